package prometheus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

// Source reads usage from a Prometheus server.
type Source struct {
	opts    Options
	queries []metricQuery
	client  apiClient
}

// maxConcurrentQueries limits how many queries run at once.
const maxConcurrentQueries = 4

// New checks the options and returns a source.
func New(o Options) (*Source, error) {
	asks, err := o.allQueries()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(asks, func(a metricQuery) bool { return !a.ofPods }) {
		return nil, errors.New("nothing measures nodes; set a preset or queries")
	}
	client, err := newAPIClient(o.URL, o.Client, o.Timeout)
	if err != nil {
		return nil, err
	}
	return &Source{o, asks, client}, nil
}

// Sample runs every query once: two for each resource of nodes (the value and the time of measurement) and one for
// each resource of pods. If Sample returns an error, the sample still lists the problems.
func (s *Source) Sample(ctx context.Context, nodes []usage.Node) (usage.Sample, error) {
	now := s.opts.Now()
	replies := s.runQueries(ctx, s.queries, func(text string) url.Values {
		return url.Values{"query": {text}, "time": {formatTime(now)}, "lookback_delta": {formatSeconds(s.opts.MaxAge)}}
	}, "/api/v1/query", "vector")
	g := usage.NewSampleBuilder(nodes, now, s.opts.MaxAge)
	usable := false
	for _, a := range s.queries {
		usable = s.addAnswer(g, a, replies[a.text], replies[a.timeQuery]) || usable
	}
	sample := g.Sample()
	// The timestamp of a value is the evaluation time of the query, not the time of the scrape.
	// Rates look back, and the series of a deleted pod remain for a while.
	sample.PodDelay = s.opts.MaxAge
	if !usable {
		return sample, fmt.Errorf("asking Prometheus: %s", mainProblem(sample.Problems))
	}
	return sample, nil
}

// mainProblem returns the most important problem. mainProblem lists all queries without values, because a query
// may be wrong or its metric may not exist.
func mainProblem(problems []usage.Problem) string {
	if problems[0].Kind != usage.Empty {
		return problems[0].Detail
	}
	var about []string
	for _, p := range problems {
		if resource, empty := strings.CutSuffix(p.Detail, usage.NoValues); empty {
			about = append(about, resource)
		}
	}
	return strings.Join(about, ", ") + usage.NoValues
}

// addAnswer adds the answer to a query. addAnswer returns false if the answer has no values of nodes.
func (s *Source) addAnswer(g *usage.SampleBuilder, a metricQuery, values, times queryResult) bool {
	about := a.resource
	if a.ofPods {
		about += " of pods"
	}
	if p := cmp.Or(values.problem, times.problem); p != nil {
		g.AddProblem(p.Kind, about+": "+p.Detail)
		return false
	}
	if a.ofPods {
		g.AddPods(a.resource, a.unit, podValues(g, about, values.samples))
		return false
	}
	named, labelled := nodeValues(g, about, values.samples)
	if !labelled {
		g.AddProblem(usage.BadAnswer, fmt.Sprintf("%s: no value has the label %s, which should name the node", about, s.opts.NodeLabel))
		return false
	}
	g.AddNodes(a.resource, a.unit, withMeasurementTimes(g, a, named, times.samples))
	if s.opts.Preset == Kubelet && a.resource == "memory" && a.unit == usage.Bytes && s.opts.Queries[cluster.MemoryAvailable] == "" {
		g.DeriveMemoryAvailable()
	}
	return len(named) > 0
}

// podValues converts samples and leaves out histograms.
func podValues(g *usage.SampleBuilder, about string, samples []sample) []usage.PodValue {
	out := make([]usage.PodValue, 0, len(samples))
	for _, x := range samples {
		if x.histogram {
			g.AddProblemOf(usage.Implausible, about+": a histogram for", x.labels[0]+"/"+x.labels[1])
			continue
		}
		out = append(out, usage.PodValue{Namespace: x.labels[0], Name: x.labels[1], Amount: x.v, At: x.at})
	}
	return out
}

// nodeValues converts samples and leaves out histograms. nodeValues returns false if no value has the node label.
func nodeValues(g *usage.SampleBuilder, about string, samples []sample) ([]usage.Value, bool) {
	out := make([]usage.Value, 0, len(samples))
	labelled := len(samples) == 0
	for _, x := range samples {
		labelled = labelled || x.labels[0] != ""
		if x.histogram {
			g.AddProblemOf(usage.Implausible, about+": a histogram for", x.labels[0])
			continue
		}
		out = append(out, usage.Value{Node: x.labels[0], Amount: x.v, At: x.at})
	}
	return out, labelled
}

// withMeasurementTimes sets the time of each value from the answer to the time query, matched by the node label.
func withMeasurementTimes(g *usage.SampleBuilder, a metricQuery, values []usage.Value, times []sample) []usage.Value {
	at := make(map[string]time.Time, len(times))
	for _, t := range times {
		switch old, twice := at[t.labels[0]]; {
		case !(t.v >= 0 && t.v <= maxUnixSeconds):
			g.AddProblemOf(usage.Implausible, a.resource+": invalid measurement time for", t.labels[0])
			at[t.labels[0]] = time.Time{} // a zero time is stale and earlier than any other
		case !twice || unixTime(t.v).Before(old):
			at[t.labels[0]] = unixTime(t.v)
		}
	}
	out := values[:0]
	for _, v := range values {
		measured, known := at[v.Node]
		if !known && a.requireTime {
			g.AddProblemOf(usage.Stale, a.resource+": no measurement time for", v.Node)
			continue
		}
		if known {
			v.At = measured
		}
		out = append(out, v)
	}
	return out
}

func unixTime(v float64) time.Time { return time.UnixMilli(int64(v * 1000)).UTC() }

// queryResult is the answer to one query, or the problem that prevented an answer.
type queryResult struct {
	samples []sample
	problem *usage.Problem
}

// runQueries runs each distinct query once, several at a time.
func (s *Source) runQueries(ctx context.Context, asks []metricQuery, form func(string) url.Values, path,
	want string) map[string]queryResult {
	labels := map[string][]string{}
	for _, a := range asks {
		labels[a.text] = []string{s.opts.NodeLabel}
		if a.ofPods {
			labels[a.text] = []string{"namespace", "pod"}
		} else if a.timeQuery != "" {
			labels[a.timeQuery] = []string{s.opts.NodeLabel}
		}
	}
	out := map[string]queryResult{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	turn := make(chan struct{}, maxConcurrentQueries)
	for text, keep := range labels {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			samples, problem := s.client.query(ctx, path, form(text), keep, want)
			mu.Lock()
			defer mu.Unlock()
			out[text] = queryResult{samples, problem}
		})
	}
	wg.Wait()
	return out
}

func formatTime(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64)
}

func formatSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
