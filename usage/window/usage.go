package window

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

// APIVersion and Kind identify a Usage in a snapshot.
const (
	APIVersion = "evenkeel.io/v1alpha1"
	Kind       = "Usage"
)

// maxDetailsPerKind limits how many problems of one kind are listed.
const maxDetailsPerKind = 3

// Usage returns the usage of nodes and pods, and the state of nodes relative to watched levels. The lists are
// sorted by name. Usage omits nodes and pods that were not measured within MaxAge before now. A pod that left
// stays listed while the window contains measurements of it, because its node's statistics include its usage.
func (w *Windows) Usage(now time.Time) *cluster.Usage {
	u := w.NodeUsage(now)
	u.Pods = w.podUsage(now)
	return u
}

// NodeUsage returns Usage without pods, which take most of the time.
func (w *Windows) NodeUsage(now time.Time) *cluster.Usage {
	u := &cluster.Usage{
		APIVersion: APIVersion, Kind: Kind, Source: w.opts.Source,
		Statistic: string(w.opts.Statistic), WindowSeconds: w.opts.Window.Seconds(), RateSeconds: w.opts.RateWindow.Seconds(),
		Nodes: []cluster.NodeUsage{}, Pods: []cluster.PodUsage{}, NodesOnly: w.opts.NodesOnly,
	}
	names := slices.Sorted(maps.Keys(w.nodes))
	for _, name := range names {
		x, samples := w.nodeUsage(w.nodes[name], now)
		if samples == 0 {
			continue
		}
		u.Nodes = append(u.Nodes, x)
		u.Samples = max(u.Samples, samples)
		if x.At.After(u.SampledAt) {
			u.SampledAt = x.At
		}
	}
	u.Marks = w.marks(names, now)
	u.Problems = formatProblems(w.problems)
	if u.Samples == 1 && w.opts.Statistic != Latest {
		u.Statistic = string(Latest)
		u.Problems = append(u.Problems, fmt.Sprintf("the window of %s contains one sample, too few for %s; the latest value is used",
			w.opts.Window, w.opts.Statistic))
	}
	return u
}

// nodeUsage returns a node's usage and the number of samples, which is 0 if the usage is unknown.
// The time of the usage is the older of the times of cpu and memory. Pods bound after that time are
// not included, even if another resource was measured later.
func (w *Windows) nodeUsage(n *node, now time.Time) (cluster.NodeUsage, int) {
	u := cluster.NodeUsage{Name: n.name, Used: map[string]int64{}}
	samples, rest := 0, int64(0)
	var values []int64
	for resource, of := range n.used {
		last, ok := of.last()
		if !ok || !w.opts.isCurrent(last.at, now) {
			continue
		}
		values = w.valuesWithin(of, w.opts.Window, values[:0])
		samples = max(samples, len(values))
		if resource == "cpu" || resource == "memory" {
			u.SpanSeconds = max(u.SpanSeconds, w.coveredSpan(of, len(values)).Seconds())
		}
		switch at := &u.At; {
		case resource != "cpu" && resource != "memory":
			rest = olderTime(rest, last.at)
		case at.IsZero() || last.at < at.UnixMilli():
			*at = time.UnixMilli(last.at).UTC()
		}
		if len(values) > 1 {
			if u.Deviation == nil {
				u.Deviation = map[string]int64{}
			}
			u.Deviation[resource] = int64(math.Round(deviation(values)))
		}
		u.Used[resource] = w.opts.Statistic.compute(values)
		if last.v != u.Used[resource] && w.includesHistory(of) {
			if u.Newest == nil {
				u.Newest = map[string]int64{}
			}
			u.Newest[resource] = last.v
		}
	}
	if u.SpanSeconds >= (w.opts.Window - w.opts.Interval/2).Seconds() {
		u.SpanSeconds = 0 // the whole window, apart from irregular sampling
	}
	if u.At.IsZero() {
		u.At = time.UnixMilli(rest).UTC()
	}
	return u, samples
}

// includesHistory reports whether the window contains samples from the source's history. Pods that ran at that
// time and no longer exist may never have been listed, so their usage cannot be subtracted from the node's usage.
func (w *Windows) includesHistory(of *series) bool {
	oldest, until, found := w.lastSampleTime.Add(-w.opts.Window).UnixMilli(), w.historyUntil.UnixMilli(), false
	of.each(func(p nodeSample) { found = found || p.at > oldest && p.at <= until })
	return found
}

// olderTime returns the earlier of two times. 0 means that a time is unset.
func olderTime(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// coveredSpan returns the part of the window that a number of samples covers. Each sample covers the
// time until the next sample.
func (w *Windows) coveredSpan(of *series, samples int) time.Duration {
	if samples == 1 {
		return min(w.opts.Interval, w.opts.Window)
	}
	oldest, first := w.lastSampleTime.Add(-w.opts.Window).UnixMilli(), int64(0)
	of.each(func(p nodeSample) {
		if p.at > oldest && first == 0 {
			first = p.at
		}
	})
	last, _ := of.last()
	return min(time.Duration(last.at-first)*time.Millisecond*time.Duration(samples)/time.Duration(samples-1), w.opts.Window)
}

// valuesWithin appends the values in the window that ends with the newest sample. valuesWithin appends the last
// value in any case.
func (w *Windows) valuesWithin(of *series, d time.Duration, values []int64) []int64 {
	oldest := w.lastSampleTime.Add(-d).UnixMilli()
	of.each(func(p nodeSample) {
		if p.at > oldest {
			values = append(values, p.v)
		}
	})
	if len(values) == 0 {
		last, _ := of.last()
		values = append(values, last.v)
	}
	return values
}

// formatProblems describes the problems, with a few details of each kind.
func formatProblems(all []usage.Problem) []string {
	var out []string
	kinds := map[usage.ProblemKind][]string{}
	for _, p := range all {
		kinds[p.Kind] = append(kinds[p.Kind], p.Detail)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		details := kinds[kind]
		slices.Sort(details)
		for i, d := range details {
			if i == maxDetailsPerKind {
				out = append(out, fmt.Sprintf("%s: ... and %d more", kind, len(details)-i))
				break
			}
			out = append(out, fmt.Sprintf("%s: %s", kind, d))
		}
	}
	return out
}
