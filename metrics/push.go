package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/push"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/internal/wait"
)

// A push has pushAttempts attempts of at most pushTimeout each, with pushRetryDelay between them.
const (
	pushAttempts   = 3
	pushTimeout    = 5 * time.Second
	pushRetryDelay = 2 * time.Second
)

// maxPushAnswer bounds the part of an answer that an error repeats, in bytes.
const maxPushAnswer = 512

// Pusher sends the metrics of a single pass to a Pushgateway.
type Pusher struct {
	url        *url.URL // without credentials
	user, pass string
	withUser   bool
	grouping   map[string]string

	Clock clock.WithTicker
	// Client sends the requests.
	Client *http.Client
}

// NewPusher returns a Pusher for the URL of a Pushgateway. The metrics of a release (the namespace of its Lease) and of
// a set of strategies replace those of their last push. The error never contains the URL, which may have a password.
func NewPusher(address, release string, strategies []string, c clock.WithTicker) (*Pusher, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it is not the URL of a Pushgateway (want http://HOST:PORT or https://HOST:PORT, with USER:PASSWORD@ and a path if needed)")
	}
	group := "all"
	if len(strategies) > 0 {
		group = strings.Join(strategies, "+")
	}
	p := &Pusher{url: u, grouping: map[string]string{"release": release, "strategies": group}, Clock: c,
		Client: &http.Client{Timeout: pushTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if u.User != nil {
		p.user, p.withUser = u.User.Username(), true
		p.pass, _ = u.User.Password()
		u.User = nil
	}
	return p, nil
}

// Address returns the URL without credentials.
func (p *Pusher) Address() string { return p.url.String() }

// Push sends the metrics, without those about the process: it ends, and no longer leads. If the Pushgateway does not
// take them, Push tries again. The error names no credentials.
func (p *Pusher) Push(ctx context.Context, m *Metrics) error {
	for _, c := range m.ofProcess {
		m.Registry.Unregister(c)
	}
	to := push.New(p.url.String(), "evenkeel").Gatherer(m.Registry).Client(boundedAnswers{p.Client})
	for name, value := range p.grouping {
		to = to.Grouping(name, value)
	}
	if p.withUser {
		to = to.BasicAuth(p.user, p.pass)
	}
	for attempt := 1; ; attempt++ {
		err := to.PushContext(ctx)
		if err == nil || attempt == pushAttempts || !wait.Sleep(ctx, p.Clock, pushRetryDelay) {
			return withAttempts(err, attempt)
		}
	}
}

func withAttempts(err error, attempts int) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("after %d of %d attempts: %w", attempts, pushAttempts, err)
}

// boundedAnswers cuts long answers off, because an error of the push library repeats the whole answer.
type boundedAnswers struct{ client *http.Client }

// Do implements push.HTTPDoer.
func (b boundedAnswers) Do(r *http.Request) (*http.Response, error) {
	answer, err := b.client.Do(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxPushAnswer), answer.Body}
	}
	return answer, err
}
