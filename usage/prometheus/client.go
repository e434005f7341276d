package prometheus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"

	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
)

// apiClient sends queries to a server with the API of Prometheus.
type apiClient struct {
	api     api.Client
	http    *http.Client  // nil: the default client
	timeout time.Duration // of each query
}

func newAPIClient(address string, client *http.Client, timeout time.Duration) (apiClient, error) {
	c, err := api.NewClient(api.Config{Address: address, Client: client})
	if err != nil {
		return apiClient{}, errors.New("the address of Prometheus is not a URL") // the URL may contain a password
	}
	return apiClient{c, client, timeout}, nil
}

// query runs one query. query checks for an error first, because a partial answer can carry both data and an
// error.
func (c apiClient) query(ctx context.Context, path string, form url.Values, labels []string,
	want string) ([]sample, *usage.Problem) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	form.Set("timeout", formatSeconds(c.timeout))
	status, body, err := c.post(ctx, path, form)
	if err != nil {
		p := fetch.ProblemOf(err, c.timeout)
		return nil, &p
	}
	bad := func(kind usage.ProblemKind, format string, args ...any) ([]sample, *usage.Problem) {
		return nil, &usage.Problem{Kind: kind, Detail: fmt.Sprintf(format, args...)}
	}
	a, err := decodeAnswer(body, labels)
	switch {
	case err == nil && a.status == "error":
		return bad(usage.BadAnswer, "the server answers %d, %s: %s%s", status, a.errorType, a.message, fetch.AuthHint(c.http, status))
	case status >= 500:
		return bad(usage.Unreachable, "the server answers %d", status)
	case status == http.StatusNotFound:
		return bad(usage.BadAnswer, "the server answers 404; is this the address of a Prometheus, with its path prefix?")
	case status < 200 || status > 299:
		return bad(usage.BadAnswer, "the server answers %d%s", status, fetch.AuthHint(c.http, status))
	case err != nil:
		return bad(usage.BadAnswer, "%v", err)
	case a.status != "success":
		return bad(usage.BadAnswer, "the answer has the status %q (want success)", a.status)
	case len(a.warnings) > 0:
		return bad(usage.BadAnswer, "the answer may be partial: %s", strings.Join(a.warnings, "; "))
	case a.resultType != want:
		return bad(usage.BadAnswer, "the answer is a %s (want a %s)", a.resultType, want)
	}
	return a.samples, nil
}

// post sends a query in the body of a POST request. If the server refuses POST, it uses GET,
// because some proxies allow read-only users only GET.
func (c apiClient) post(ctx context.Context, path string, form url.Values) (int, []byte, error) {
	u := c.api.URL(path, nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, errors.New("the address of Prometheus is not a URL")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header["Idempotency-Key"] = nil // makes the transport retry on a connection that was closed meanwhile
	resp, body, err := c.api.Do(ctx, r)
	if err != nil {
		return 0, nil, err
	}
	switch resp.StatusCode {
	case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		u.RawQuery = form.Encode()
		if r, err = http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil); err != nil {
			return 0, nil, err
		}
		if resp, body, err = c.api.Do(ctx, r); err != nil {
			return 0, nil, err
		}
	}
	return resp.StatusCode, body, nil
}
