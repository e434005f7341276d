package observe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// translatedError describes an error of the client library in plain words and suggests a check.
type translatedError struct {
	text string
	err  error
}

func (t *translatedError) Error() string { return t.text }
func (t *translatedError) Unwrap() error { return t.err }

const (
	addressHint = "; is this the address of an API server?"
	proxyHint   = "; does a proxy or another server answer instead of the API server?"
)

// PlainError translates an error of the client library into plain words. It compares the text of
// errors that have no type or value of their own.
func PlainError(err error) error {
	if err == nil {
		return nil
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return &translatedError{statusText(status.Status()), err}
	}
	var u *url.Error
	if errors.As(err, &u) {
		return &translatedError{connectionProblem(u.Err), err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &translatedError{connectionProblem(err), err}
	}
	return &translatedError{answerProblem(err), err}
}

// statusText describes an error response of the API server, or of a proxy in front of the server.
func statusText(s metav1.Status) string {
	text := s.Message
	if s.Details != nil && len(s.Details.Causes) > 0 && s.Reason != metav1.StatusReasonForbidden {
		if said := firstLine(s.Details.Causes[0].Message); said != "" && said != "unknown" {
			text = said
		}
	}
	if strings.Contains(text, `("unknown")`) || text == "unknown" {
		text = string(s.Reason)
	}
	return strings.TrimSuffix(fmt.Sprintf("the answer is %d: %s", s.Code, text), ": ")
}

// connectionProblem explains why the API server did not respond.
func connectionProblem(err error) string {
	text := firstLine(err.Error())
	var badCertificate *tls.CertificateVerificationError
	switch {
	case strings.HasPrefix(text, "getting credentials: "):
		return text + "; check the user's exec section in the kubeconfig"
	case errors.As(err, &badCertificate):
		return "the server certificate is not trusted: " + badCertificate.Err.Error() +
			"; check server and certificate-authority in the kubeconfig, and the clock"
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return "the server answers HTTP, not HTTPS; should the kubeconfig say http instead of https?"
	case strings.Contains(text, "does not look like a TLS handshake"):
		return "the server does not answer HTTPS" + addressHint
	case strings.Contains(text, "proxyconnect"):
		return text + "; check proxy-url in the kubeconfig and HTTPS_PROXY"
	case errors.Is(err, syscall.ECONNREFUSED):
		return text + "; is the API server running at this address?"
	case errors.Is(err, io.EOF):
		return "the server closed the connection without an answer" + addressHint
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time; is the API server overloaded, or the network interrupted?"
	}
	return text + addressHint
}

var (
	listPrefix  = regexp.MustCompile(`^failed to (list|watch) \S+: `)
	unknownKind = regexp.MustCompile(`^no kind "([^"]*)" is registered for version "([^"]*)"`)
	wrongType   = regexp.MustCompile(`^json: cannot unmarshal (\w+).* into Go struct field [^.]*\.(\S+) of type `)
	noFormat    = regexp.MustCompile(`^serializer for (\S+) doesn't exist`)
)

// answerProblem explains why a response of the API server is unusable.
func answerProblem(err error) string {
	text := listPrefix.ReplaceAllString(firstLine(err.Error()), "")
	switch {
	case wrongType.MatchString(text):
		m := wrongType.FindStringSubmatch(text)
		return fmt.Sprintf("the answer cannot be read: %s: a %s is the wrong type for this field", m[2], m[1]) + proxyHint
	case unknownKind.MatchString(text):
		m := unknownKind.FindStringSubmatch(text)
		return fmt.Sprintf("the answer has an unknown kind: %s %s", m[2], m[1]) + proxyHint
	case noFormat.MatchString(text):
		return "the answer is " + noFormat.FindStringSubmatch(text)[1] + ", a format that no API server sends" + proxyHint
	case strings.HasPrefix(text, "unable to parse the server version: json:"):
		return "the answer is not a version" + addressHint
	case strings.HasPrefix(text, "unable to parse the server version: "):
		return "the answer is not a version: " + strings.TrimPrefix(text, "unable to parse the server version: ") + addressHint
	case strings.Contains(text, "json parse error: "):
		return "the answer is not an object: " + text[strings.Index(text, "json parse error: ")+len("json parse error: "):] + proxyHint
	case strings.HasPrefix(text, "unexpected error when reading response body"), errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer is truncated; did a proxy or the network close the connection?"
	case strings.HasPrefix(text, "0-length response"):
		return "the answer is empty" + proxyHint
	}
	return text
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first)
}
