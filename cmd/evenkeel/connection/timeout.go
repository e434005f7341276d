package connection

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/transport"
)

// withTimeout returns a wrapper whose requests end after the timeout, the body of the answer included. Watches and logs
// that are followed do not end.
func withTimeout(timeout time.Duration) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper { return &timeoutTransport{next, timeout} }
}

type timeoutTransport struct {
	next    http.RoundTripper
	timeout time.Duration
}

// RoundTrip implements http.RoundTripper.
func (t *timeoutTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if isWatch(r) {
		return t.next.RoundTrip(r)
	}
	ctx, cancel := context.WithTimeout(r.Context(), t.timeout)
	answer, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return answer, err
	}
	answer.Body = &cancelingBody{answer.Body, cancel}
	return answer, nil
}

// WrappedRoundTripper lets client-go close idle connections.
func (t *timeoutTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// isWatch reports whether a request asks for events, or the lines of a log, until the server ends it.
func isWatch(r *http.Request) bool {
	q := r.URL.Query()
	switch cmp.Or(q.Get("watch"), q.Get("follow")) {
	case "1", "true":
		return true
	}
	return false
}

// cancelingBody ends the context of its request when the reader closes it.
type cancelingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancelingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
