package prometheus

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/usage"
)

// mostSteps bounds what is asked of the past: 15 minutes at every second are 900.
const mostSteps = 1000

// History asks the queries about nodes over the time since then. Pods are left
// out: a window of 150,000 of them is more than an answer may hold, and their
// samples count from now on.
func (s *Source) History(ctx context.Context, nodes []usage.Node, since time.Time, step time.Duration) ([]usage.Sample, error) {
	step = step.Truncate(time.Millisecond)
	now, since := s.opts.Now(), since.Truncate(time.Millisecond)
	if step <= 0 || now.Before(since) || now.Sub(since)/step >= mostSteps {
		return nil, fmt.Errorf("asking Prometheus for the past: from %s on in steps of %s is not between one and %d samples", since, step, mostSteps)
	}
	var asks []ask
	for _, a := range s.asks {
		if !a.pods {
			asks = append(asks, a)
		}
	}
	replies := s.all(ctx, asks, func(text string) url.Values {
		return url.Values{"query": {text}, "start": {unix(since)}, "end": {unix(now)}, "step": {unixDuration(step)}, "lookback_delta": {unixDuration(s.opts.MaxAge)}}
	}, "/api/v1/query_range", "matrix")
	steps := map[string]map[int64][]sample{}
	for text, r := range replies {
		steps[text] = byStep(r.samples)
	}
	var out []usage.Sample
	failed := ""
	for t := since; !t.After(now); t = t.Add(step) {
		g := usage.NewGather(nodes, t, s.opts.MaxAge)
		for _, a := range asks {
			at := func(text string) reply { return reply{steps[text][t.UnixMilli()], replies[text].problem} }
			s.gather(g, a, at(a.promql), at(a.freshness))
		}
		sample := g.Sample()
		if len(sample.Nodes) > 0 {
			out = append(out, sample)
		} else if len(sample.Problems) > 0 {
			failed = sample.Problems[0].Detail
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("asking Prometheus for the past: %s", failed)
	}
	return out, missing(asks, replies)
}

// missing names the resources of which there is no answer, and why.
func missing(asks []ask, replies map[string]reply) error {
	var said []string
	for _, a := range asks {
		for _, r := range []reply{replies[a.promql], replies[a.freshness]} {
			if r.problem != nil {
				said = append(said, a.resource+": "+r.problem.Detail)
				break
			}
		}
	}
	if len(said) == 0 {
		return nil
	}
	return fmt.Errorf("asking Prometheus for the past: %s", strings.Join(said, "; "))
}

// byStep groups samples by their time.
func byStep(samples []sample) map[int64][]sample {
	out := map[int64][]sample{}
	for _, x := range samples {
		at := x.at.UnixMilli()
		out[at] = append(out[at], x)
	}
	return out
}
