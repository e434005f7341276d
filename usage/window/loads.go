package window

import (
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

// LoadStatistics are statistics of one resource of a node over a window, in percent of the node's capacity.
type LoadStatistics struct{ Latest, Mean, Std float64 }

// NodeLoads are the known loads of a node, by resource: cpu and memory.
type NodeLoads struct {
	Node string
	// At is the older of the times at which cpu and memory were last measured.
	At         time.Time
	ByResource map[string]LoadStatistics
}

// Loads returns the loads of every known node over the last d, sorted by name. A node with
// unknown capacity is left out, so every value is a number.
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
			if !ok || !w.opts.isCurrent(last.at, now) {
				continue
			}
			values = w.valuesWithin(of, d, values[:0])
			percent := 100 / float64(capacity)
			x.ByResource[resource] = LoadStatistics{Latest: float64(last.v) * percent, Mean: mean(values) * percent,
				Std: deviation(values) * percent}
			oldest = olderTime(oldest, last.at)
		}
		if len(x.ByResource) > 0 {
			x.At = time.UnixMilli(oldest).UTC()
			out = append(out, x)
		}
	}
	return out
}

// SampleSpan returns the time between the oldest and the newest sample of the known nodes.
func (w *Windows) SampleSpan(now time.Time) time.Duration {
	oldest, newest := int64(0), int64(0)
	for _, n := range w.nodes {
		if !w.opts.isCurrent(n.at, now) {
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

// Coverage returns the share (0..1) of the selected nodes whose usage is known. Coverage returns 0 if there are none.
func (w *Windows) Coverage(now time.Time, nodes []usage.Node) float64 {
	known, all := 0, 0
	for i := range nodes {
		if nodes[i].NotSelected {
			continue
		}
		all++
		if n := w.nodes[nodes[i].Name]; n != nil && w.opts.isCurrent(n.at, now) {
			known++
		}
	}
	return float64(known) / float64(max(all, 1))
}

// NewestMeasurement returns the time of the newest measurement of any node, or zero if no node was measured.
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

// LastSampleTime returns the time of the newest sample, or zero if there is no sample.
func (w *Windows) LastSampleTime() time.Time { return w.lastSampleTime }
