package loadwatcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/fetch"
)

// Options configures a source.
type Options struct {
	// URL is the address of the load-watcher. The path /watcher is appended.
	URL string
	// Timeout limits the request for a sample.
	Timeout time.Duration
	// MaxAge is the maximum age of a measurement.
	MaxAge time.Duration
	// Client sends the requests; see package fetch.
	Client *http.Client
	Now    func() time.Time
}

// Source reads from a load-watcher. A load-watcher measures nodes, but not pods.
type Source struct {
	opts Options
	url  string
}

// New checks the address and returns a source.
func New(o Options) (*Source, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" {
		return nil, errors.New("the address of the load-watcher is not a URL") // the URL may contain a password
	}
	return &Source{o, u.JoinPath("watcher").String()}, nil
}

// Sample sends one request. If Sample returns an error, the sample still lists the problems.
func (s *Source) Sample(ctx context.Context, nodes []usage.Node) (usage.Sample, error) {
	now := s.opts.Now()
	g := usage.NewSampleBuilder(nodes, now, s.opts.MaxAge)
	a, problem := s.fetchAnswer(ctx)
	if problem != nil {
		g.AddProblem(problem.Kind, problem.Detail)
		return g.Sample(), fmt.Errorf("asking the load-watcher: %s", problem.Detail)
	}
	// A load-watcher takes its newest sample at the end of the window.
	at := time.Unix(a.Window.End, 0).UTC()
	for resource, kind := range map[string]MetricType{"cpu": CPU, "memory": Memory} {
		g.AddNodes(resource, usage.Share, capacityShares(g, a, kind, at))
	}
	sample := g.Sample()
	if len(sample.Nodes) == 0 && len(nodes) > 0 {
		return sample, fmt.Errorf("asking the load-watcher: %s", sample.Problems[0].Detail)
	}
	return sample, nil
}

// fetchAnswer sends the request and decodes the answer. A load-watcher answers 404 for an unknown
// host and 500 if it has no data, so these statuses do not mean that it is down.
func (s *Source) fetchAnswer(ctx context.Context) (Answer, *usage.Problem) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	bad := func(kind usage.ProblemKind, format string, args ...any) (Answer, *usage.Problem) {
		return Answer{}, &usage.Problem{Kind: kind, Detail: fmt.Sprintf(format, args...)}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return bad(usage.Unreachable, "the address of the load-watcher is not a URL")
	}
	resp, err := s.opts.Client.Do(r)
	var body []byte
	if err == nil {
		defer resp.Body.Close()
		body, err = io.ReadAll(resp.Body)
	}
	if err != nil {
		p := fetch.ProblemOf(err, s.opts.Timeout)
		return Answer{}, &p
	}
	switch {
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusInternalServerError:
		return bad(usage.Empty, "the load-watcher has no data (it answers %d)", resp.StatusCode)
	case resp.StatusCode > 500:
		return bad(usage.Unreachable, "the server answers %d", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return bad(usage.BadAnswer, "the server answers %d%s", resp.StatusCode, fetch.AuthHint(s.opts.Client, resp.StatusCode))
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return bad(usage.BadAnswer, "the answer is a web page; is this the address of a load-watcher?")
	}
	a, err := Decode(body)
	if err != nil {
		return bad(usage.BadAnswer, "%v", err)
	}
	return a, nil
}

// capacityShares returns the values of one type as shares of capacity. capacityShares prefers the latest value,
// because Evenkeel computes its own statistics, and falls back to the average.
func capacityShares(g *usage.SampleBuilder, a Answer, kind MetricType, at time.Time) []usage.Value {
	var out []usage.Value
	for name, n := range a.Data.Nodes {
		var best *Metric
		for i, m := range n.Metrics {
			if m.Type != kind || m.Operator != Average && m.Operator != Latest {
				continue
			}
			switch {
			case best == nil || best.Operator == Average && m.Operator == Latest:
				best = &n.Metrics[i]
			case best.Operator == m.Operator:
				g.AddProblemOf(usage.Ambiguous, fmt.Sprintf("%s: two values of %s for", strings.ToLower(string(kind)), m.Operator), name)
				out = append(out, usage.Value{Node: name, Amount: best.Value / 100, At: at}) // the builder leaves out a node with two values
			}
		}
		if best != nil {
			out = append(out, usage.Value{Node: name, Amount: best.Value / 100, At: at})
		}
	}
	return out
}
