package prometheus

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/usage"
)

// maxHistorySteps limits the number of samples in a range query. 15 minutes in steps of one second are 900.
const maxHistorySteps = 1000

// History runs the queries about nodes over the time from since until now. History leaves out pods, because their
// samples would exceed the size limit of an answer in large clusters.
func (s *Source) History(ctx context.Context, nodes []usage.Node, since time.Time, step time.Duration) ([]usage.Sample, error) {
	step = step.Truncate(time.Millisecond)
	now, since := s.opts.Now(), since.Truncate(time.Millisecond)
	if step <= 0 || now.Before(since) || now.Sub(since)/step >= maxHistorySteps {
		return nil, fmt.Errorf("reading the history from Prometheus: the time since %s in steps of %s is not between 1 and %d samples",
			since, step, maxHistorySteps)
	}
	asks := slices.DeleteFunc(slices.Clone(s.queries), func(a metricQuery) bool { return a.ofPods })
	replies := s.runQueries(ctx, asks, func(text string) url.Values {
		return url.Values{"query": {text}, "start": {formatTime(since)}, "end": {formatTime(now)}, "step": {formatSeconds(step)},
			"lookback_delta": {formatSeconds(s.opts.MaxAge)}}
	}, "/api/v1/query_range", "matrix")
	steps := map[string]map[int64][]sample{}
	for text, r := range replies {
		steps[text] = groupByTime(r.samples)
	}
	var out []usage.Sample
	failed := ""
	for t := since; !t.After(now); t = t.Add(step) {
		g := usage.NewSampleBuilder(nodes, t, s.opts.MaxAge)
		for _, a := range asks {
			at := func(text string) queryResult { return queryResult{steps[text][t.UnixMilli()], replies[text].problem} }
			s.addAnswer(g, a, at(a.text), at(a.timeQuery))
		}
		sample := g.Sample()
		if len(sample.Nodes) > 0 {
			out = append(out, sample)
		} else if len(sample.Problems) > 0 {
			failed = sample.Problems[0].Detail
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("reading the history from Prometheus: %s", failed)
	}
	return out, failedQueries(asks, replies)
}

// failedQueries returns an error that names each resource without an answer and the reason.
func failedQueries(asks []metricQuery, replies map[string]queryResult) error {
	var said []string
	for _, a := range asks {
		if p := cmp.Or(replies[a.text].problem, replies[a.timeQuery].problem); p != nil {
			said = append(said, a.resource+": "+p.Detail)
		}
	}
	if len(said) == 0 {
		return nil
	}
	return fmt.Errorf("reading the history from Prometheus: %s", strings.Join(said, "; "))
}

// groupByTime groups samples by their time.
func groupByTime(samples []sample) map[int64][]sample {
	out := map[int64][]sample{}
	for _, x := range samples {
		at := x.at.UnixMilli()
		out[at] = append(out[at], x)
	}
	return out
}
