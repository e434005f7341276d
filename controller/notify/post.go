package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/controller/notify/message"
	"github.com/evenkeel-project/evenkeel/internal/reload"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
)

// maxAddressBytes is the largest size of a file with an address.
const maxAddressBytes = 8 << 10

// finalError means that another attempt cannot succeed.
type finalError string

func (e finalError) Error() string { return string(e) }

// post sends one request. Its errors contain names of files and status codes, but no address, token or answer.
func (r Receiver) post(ctx context.Context, body []byte) error {
	address, err := r.address()
	if err != nil {
		return err
	}
	// The length of the answer has no limit, because nothing reads the answer.
	client, err := fetch.New(fetch.Options{TokenFile: r.TokenFile, CAFile: r.CAFile, MaxBytes: math.MaxInt64 - 1})
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return r.addressError()
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return describe(err, r.Timeout)
	}
	resp.Body.Close() // unread: only the status matters, and the answer may be endless
	return checkStatus(resp.StatusCode)
}

func checkStatus(code int) error {
	switch {
	case code >= 200 && code < 300:
		return nil
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return fmt.Errorf("the receiver answers with status %d", code)
	}
	return finalError(fmt.Sprintf("the receiver answers with status %d", code))
}

// describe says in one line why a request got no answer. It does not repeat the error, which may contain the address.
func describe(err error, timeout time.Duration) error {
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timedOut net.Error
	switch {
	case fetch.ProblemOf(err, timeout).Kind == usage.BadAnswer:
		return finalError("the receiver answers with a redirect, which is not followed")
	case errors.Is(err, context.Canceled):
		return finalError("the process stopped, or the receiver was configured anew")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timedOut) && timedOut.Timeout():
		return fmt.Errorf("the receiver did not answer within %s", timeout)
	case errors.As(err, &lookup):
		return errors.New("the host of the receiver cannot be resolved")
	case errors.As(err, &certificate):
		return errors.New("the certificate of the receiver is not trusted; see caFile")
	}
	return errors.New("the connection to the receiver failed")
}

// address returns the URL of the receiver.
func (r Receiver) address() (string, error) {
	if r.URLFile == "" {
		return r.URL, nil
	}
	text, err := reload.ReadFile(r.URLFile, maxAddressBytes)
	if err != nil {
		return "", fmt.Errorf("reading the address: %w", err)
	}
	address := strings.TrimSpace(string(text))
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || !slices.Contains(r.schemes(), u.Scheme) {
		return "", r.addressError()
	}
	return address, nil
}

// schemes returns the permitted schemes. The URLs of Slack and Teams are secrets.
func (r Receiver) schemes() []string {
	if r.Format == message.JSON {
		return []string{"http", "https"}
	}
	return []string{"https"}
}

func (r Receiver) addressError() error {
	return finalError(fmt.Sprintf("%s does not contain one URL with the scheme %s", cmp.Or(r.URLFile, "url"),
		strings.Join(r.schemes(), " or ")))
}
