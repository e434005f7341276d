// Package fetch builds HTTP clients for servers whose answers are not trusted.
//
// The package limits the size of answers, rejects redirects, and adds credentials. Files with
// tokens and certificates are read again for every request. The package never parses an answer.
package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel-project/evenkeel/usage"
)

// The limits of a connection. The timeout of the source bounds each request as a whole.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 90 * time.Second
)

// maxBytes is the default limit of an answer. An answer about 150,000 pods takes 15 to 25 MB.
const maxBytes = 64 << 20

// Options configures a client. All fields are optional.
type Options struct {
	// TokenFile contains a bearer token. PasswordFile contains the password of Username. At most one of TokenFile,
	// PasswordFile and OAuth2 may be set.
	TokenFile    string
	Username     string
	PasswordFile string
	OAuth2       *OAuth2
	// Headers are added to each request.
	Headers map[string]string
	// CAFile contains the certificate authorities for the server. If it is empty, the system's
	// authorities are used. The token server of OAuth2 may use either.
	CAFile string
	// CertFile and KeyFile are the client certificate and its key.
	CertFile, KeyFile string
	// MaxBytes limits the size of an answer. 0 means 64 MiB.
	MaxBytes int64
}

// New returns a client. New reads the files once to check that they are valid.
func New(o Options) (*http.Client, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = maxBytes
	}
	t := &transport{opts: o}
	if _, _, err := t.currentTransports(); err != nil {
		return nil, err
	}
	if err := t.checkFiles(); err != nil {
		return nil, err
	}
	return &http.Client{Transport: t}, nil
}

// transport is safe for concurrent use.
type transport struct {
	opts   Options
	tokens tokenCache

	mu    sync.Mutex
	files []byte // the file contents that the transports were built from
	inner *http.Transport
	// tokenServer is for the token server of OAuth2.
	tokenServer *http.Transport
}

// RoundTrip sends one request and turns a redirect into an error. The error of http.Client would
// contain the target address, which may include secrets.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	inner, tokenServer, err := t.currentTransports()
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	if err := t.authorize(r, tokenServer); err != nil {
		return nil, err
	}
	resp, err := inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized {
		t.tokens.forget()
	}
	return checkResponse(resp, t.opts.MaxBytes)
}

// LimitResponses wraps a transport. Redirects and answers of more than most bytes become errors.
func LimitResponses(inner http.RoundTripper, most int64) http.RoundTripper {
	return limitingTransport{inner, most}
}

type limitingTransport struct {
	http.RoundTripper
	most int64
}

func (b limitingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return checkResponse(resp, b.most)
}

func checkResponse(resp *http.Response, most int64) (*http.Response, error) {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		resp.Body.Close()
		return nil, badAnswer(fmt.Sprintf("the server answers %d, a redirect to %s; redirects are not followed", resp.StatusCode,
			redirectHost(resp.Header.Get("Location"))))
	}
	if resp.ContentLength > most {
		resp.Body.Close()
		return nil, tooLargeError(most)
	}
	resp.Body = &limitedBody{ReadCloser: resp.Body, left: most, most: most}
	return resp, nil
}

// CloseIdleConnections closes idle connections.
func (t *transport) CloseIdleConnections() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inner.CloseIdleConnections()
	t.tokenServer.CloseIdleConnections()
}

func redirectHost(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" {
		return "another page"
	}
	return u.Host
}

// currentTransports returns transports to the server and to the token server, for the current contents of the files.
func (t *transport) currentTransports() (inner, tokenServer *http.Transport, err error) {
	var parts [3][]byte
	for i, file := range []string{t.opts.CAFile, t.opts.CertFile, t.opts.KeyFile} {
		if file == "" {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("reading TLS files: %w", err)
		}
		parts[i] = b
	}
	files := bytes.Join(parts[:], []byte{0})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inner != nil && bytes.Equal(files, t.files) {
		return t.inner, t.tokenServer, nil
	}
	conf, err := t.tlsConfig(parts[0], parts[1], parts[2])
	if err != nil {
		return nil, nil, err
	}
	if t.inner != nil {
		t.inner.CloseIdleConnections()
		t.tokenServer.CloseIdleConnections()
	}
	t.files = files
	t.inner, t.tokenServer = newTransport(conf), newTransport(verifying(conf, parts[0]))
	return t.inner, t.tokenServer, nil
}

func newTransport(conf *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: conf, ForceAttemptHTTP2: true, IdleConnTimeout: idleTimeout,
		MaxIdleConnsPerHost: 8,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext, TLSHandshakeTimeout: handshakeTimeout,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// verifying returns a copy of the settings that accepts the system's authorities beside those in ca.
func verifying(conf *tls.Config, ca []byte) *tls.Config {
	out := conf.Clone()
	if out.RootCAs != nil {
		if pool, err := x509.SystemCertPool(); err == nil {
			pool.AppendCertsFromPEM(ca)
			out.RootCAs = pool
		}
	}
	return out
}

func (t *transport) tlsConfig(ca, cert, key []byte) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.opts.CAFile != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(ca) {
			return nil, fmt.Errorf("%s contains no certificate (want PEM)", t.opts.CAFile)
		}
	}
	if t.opts.CertFile != "" || t.opts.KeyFile != "" {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%s and %s cannot be used: %w", t.opts.CertFile, t.opts.KeyFile, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func (t *transport) readToken() (string, error) {
	if t.opts.TokenFile == "" {
		return "", nil
	}
	b, err := os.ReadFile(t.opts.TokenFile)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s contains no token (want one word)", t.opts.TokenFile)
	}
	return token, nil
}

// limitedBody is a response body that returns an error if it exceeds the limit. The limit applies
// to the decompressed size.
type limitedBody struct {
	io.ReadCloser
	left, most int64
}

func (l *limitedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n, tooLargeError(l.most)
	}
	return n, err
}

// badAnswer is an error in a received answer.
type badAnswer string

func (e badAnswer) Error() string { return string(e) }

func tooLargeError(most int64) error {
	return badAnswer(fmt.Sprintf("the answer is larger than %d MiB", most>>20))
}

// ProblemOf describes in one line why a request got no answer. The description does not contain the request.
func ProblemOf(err error, deadline time.Duration) usage.Problem {
	var bad badAnswer
	var outer *url.Error
	var timeout net.Error
	switch {
	case errors.As(err, &bad):
		return usage.Problem{Kind: usage.BadAnswer, Detail: string(bad)}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return usage.Problem{Kind: usage.Unreachable, Detail: fmt.Sprintf("no answer within %s", deadline)}
	case errors.As(err, &outer):
		err = outer.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return usage.Problem{Kind: usage.BadAnswer, Detail: "the answer is truncated"}
	}
	return usage.Problem{Kind: usage.Unreachable, Detail: err.Error()}
}
