package window

import (
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// LoadStatistics is what one resource of a node came to over a window, in percent of the
// node's capacity.
type LoadStatistics struct{ Latest, Mean, Std float64 }

// NodeLoads are the loads of a node, by resource: cpu and memory, as far as they
// are known.
type NodeLoads struct {
	Node string
	// At is when they were measured last, the older of the two.
	At         time.Time
	ByResource map[string]LoadStatistics
}

// Loads are those of every node that is known, over the last d; by name. They are
// numbers always: a node whose capacity is not known is left out.
func (w *Windows) Loads(now time.Time, d time.Duration) []NodeLoads {
	out := []NodeLoads{}
	var values []int64
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		n := w.nodes[name]
		x := NodeLoads{Node: name, ByResource: map[string]LoadStatistics{}}
		oldest := int64(0)
		for _, resource := range []string{"cpu", "memory"} {
			of, capacity := n.used[resource], cluster.UsageDenominator(&n.capacity, resource)
			if of == nil || capacity <= 0 {
				continue
			}
			last, ok := of.last()
			if !ok || !w.isCurrent(last.at, now) {
				continue
			}
			values = w.valuesWithin(of, d, values[:0])
			percent := 100 / float64(capacity)
			x.ByResource[resource] = LoadStatistics{Latest: float64(last.v) * percent, Mean: mean(values) * percent, Std: deviation(values) * percent}
			oldest = olderTime(oldest, last.at)
		}
		if len(x.ByResource) > 0 {
			x.At = time.UnixMilli(oldest).UTC()
			out = append(out, x)
		}
	}
	return out
}

// SampleSpan is how far back the samples go of nodes that are known.
func (w *Windows) SampleSpan(now time.Time) time.Duration {
	oldest, newest := int64(0), int64(0)
	for _, n := range w.nodes {
		if !w.isCurrent(n.at, now) {
			continue
		}
		newest = max(newest, n.at)
		for _, of := range n.used {
			if first := of.first().at; oldest == 0 || first < oldest {
				oldest = first
			}
		}
	}
	return time.Duration(newest-oldest) * time.Millisecond
}

// Coverage is the share of nodes whose usage is known; 0 without nodes.
func (w *Windows) Coverage(now time.Time, nodes int) float64 {
	known := 0
	for _, n := range w.nodes {
		if w.isCurrent(n.at, now) {
			known++
		}
	}
	if nodes == 0 {
		return 0
	}
	return float64(known) / float64(nodes)
}

// NewestMeasurement is when the newest measurement of any node was made; zero while there is
// none.
func (w *Windows) NewestMeasurement() time.Time {
	newest := int64(0)
	for _, n := range w.nodes {
		newest = max(newest, n.at)
	}
	if newest == 0 {
		return time.Time{}
	}
	return time.UnixMilli(newest).UTC()
}

// LastSampleTime is when the newest sample was; zero before the first.
func (w *Windows) LastSampleTime() time.Time { return w.lastSampleTime }
