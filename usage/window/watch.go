package window

import (
	"math"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

// LevelWatch is a level that a hint rule, or a strategy with `for`, watches on each node.
//
// For consecutive samples beyond Enter make a node hot; a sample at Enter or within it resets the count.
// A hot node stays hot until a sample is at Leave or within it.
//
// Each measurement counts once, by its own value and not by the statistic over the window. A sample
// without the node does not change the count. If the node is missing for MaxAge, its usage is
// unknown and it has no mark. Counting then starts again with the next measurement.
type LevelWatch struct {
	// Name is the name of the strategy or rule.
	Name     string
	Resource string
	// Enter and Leave are fractions of allocatable for cpu and memory, bytes for
	// memory.available, and the value itself for a query.
	Enter, Leave float64
	// Below means that lower values are beyond the level, as for available memory.
	Below bool
	// Deviation means that Enter and Leave are relative to the mean of all known nodes in
	// scope. The mean is their total usage divided by their total physical amount (cluster.PhysicalOf).
	Deviation bool
	// For is the number of consecutive samples beyond Enter that make a node hot. Less than 1 means 1.
	For int
}

func (w *LevelWatch) requiredSamples() int { return max(w.For, 1) }

// watchedNode is the state of a node relative to one watch.
type watchedNode struct {
	at    int64 // time of the last counted measurement; 0: none
	since int64
	value float64 // value of that measurement
	count int
	hot   bool
	// settled means that the node has been hot or clearly not hot since counting began.
	settled bool
}

func (s *watchedNode) update(w *LevelWatch, at int64, v float64, maxAge int64) {
	if s.at != 0 && at-s.at > maxAge {
		*s = watchedNode{value: s.value}
	}
	s.at = at
	enter, leave := w.Enter, w.Leave
	if w.Below {
		v, enter, leave = -v, -enter, -leave
	}
	if exceeds(v, enter) {
		if s.count == 0 && !s.hot {
			s.since = at
		}
		if s.count = min(s.count+1, w.requiredSamples()); s.count == w.requiredSamples() {
			s.hot, s.settled = true, true
		}
		return
	}
	s.count = 0
	if !exceeds(v, leave) {
		s.hot, s.settled = false, true
	}
}

// exceeds reports v > limit with a tolerance for binary fractions: 29 of 100 is not above 0.29.
func exceeds(v, limit float64) bool {
	return v-limit > 1e-9*max(math.Abs(v), math.Abs(limit))
}

// updateStates updates the states of the nodes that the newest sample measured.
func (w *Windows) updateStates(nodes []usage.Node) {
	for i := range w.opts.Watches {
		watch := &w.opts.Watches[i]
		over := 0.0
		if watch.Deviation {
			var known bool
			if over, known = w.meanUse(watch.Resource, nodes); !known {
				continue
			}
		}
		for j := range nodes {
			n := w.nodes[nodes[j].Name]
			if n == nil {
				continue
			}
			if at, v, ok := w.newMeasurement(n, watch.Resource); ok {
				n.states[i].value = v
				n.states[i].update(watch, at, v-over, w.opts.MaxAge.Milliseconds())
			}
		}
	}
}

// newMeasurement returns the value and time of a new measurement in the newest sample, in the units of a watch.
func (w *Windows) newMeasurement(n *node, resource string) (at int64, v float64, ok bool) {
	of := n.used[resource]
	if of == nil || of.sample != w.sampleCount {
		return 0, 0, false
	}
	last, _ := of.last()
	total := cluster.UsageDenominator(&n.physical, resource)
	return last.at, float64(last.v) / float64(total), total > 0
}

// meanUse returns the total usage divided by the total physical amount of the known nodes in scope.
func (w *Windows) meanUse(resource string, nodes []usage.Node) (float64, bool) {
	used, total, oldest := 0.0, 0.0, w.lastSampleTime.Add(-w.opts.MaxAge).UnixMilli()
	for i := range nodes {
		n := w.nodes[nodes[i].Name]
		if n == nil || n.used[resource] == nil || nodes[i].OutOfScope {
			continue
		}
		if last, ok := n.used[resource].last(); ok && last.at >= oldest {
			used += float64(last.v)
			total += float64(cluster.UsageDenominator(&n.physical, resource))
		}
	}
	return used / total, total > 0
}

// SetWatches replaces the watches. Unchanged watches keep their counts.
func (w *Windows) SetWatches(watches []LevelWatch) {
	before := w.opts.Watches
	w.opts.Watches = slices.Clone(watches)
	for _, n := range w.nodes {
		marks := make([]watchedNode, len(watches))
		for i := range watches {
			if j := slices.Index(before, watches[i]); j >= 0 {
				marks[i] = n.states[j]
			}
		}
		n.states = marks
	}
}

// marks returns the state of each known node relative to each watched level. A node that is clearly
// not hot has no mark.
func (w *Windows) marks(names []string, now time.Time) []cluster.Mark {
	var out []cluster.Mark
	for i := range w.opts.Watches {
		watch := &w.opts.Watches[i]
		for _, name := range names {
			s := &w.nodes[name].states[i]
			if s.at == 0 || !w.opts.isCurrent(s.at, now) || !s.hot && s.count == 0 && s.settled {
				continue
			}
			m := cluster.Mark{Watch: watch.Name, Node: name, Resource: watch.Resource, Hot: s.hot, Samples: s.count,
				Required: watch.requiredSamples(), Value: s.value, At: time.UnixMilli(s.at).UTC(), CountRestarted: !s.settled}
			if s.hot || s.count > 0 {
				m.Since = time.UnixMilli(s.since).UTC()
			}
			out = append(out, m)
		}
	}
	return out
}
