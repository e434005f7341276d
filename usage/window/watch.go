package window

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

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

// newMeasurement returns the value and time of a new measurement in the newest sample, in the
// units of a watch.
func (w *Windows) newMeasurement(n *node, resource string) (at int64, v float64, ok bool) {
	of := n.used[resource]
	if of == nil || of.sample != w.sampleCount {
		return 0, 0, false
	}
	last, _ := of.last()
	total := cluster.UsageDenominator(&n.allocatable, resource)
	return last.at, float64(last.v) / float64(total), total > 0
}

// meanUse returns the total usage divided by the total allocatable of the known nodes in scope.
func (w *Windows) meanUse(resource string, nodes []usage.Node) (float64, bool) {
	used, total, oldest := 0.0, 0.0, w.lastSampleTime.Add(-w.opts.MaxAge).UnixMilli()
	for i := range nodes {
		n := w.nodes[nodes[i].Name]
		if n == nil || n.used[resource] == nil || nodes[i].OutOfScope {
			continue
		}
		if last, ok := n.used[resource].last(); ok && last.at >= oldest {
			used += float64(last.v)
			total += float64(cluster.UsageDenominator(&n.allocatable, resource))
		}
	}
	return used / total, total > 0
}

// SetWatches replaces the watches. Unchanged watches keep their counts.
func (w *Windows) SetWatches(watches []LevelWatch) {
	before := w.opts.Watches
	w.opts.Watches = slices.Clone(watches)
	for _, n := range w.nodes {
		marks := make([]watchState, len(watches))
		for i := range watches {
			if j := slices.Index(before, watches[i]); j >= 0 {
				marks[i] = n.states[j]
			}
		}
		n.states = marks
	}
}

// marks returns the state of each known node relative to each watched level. A node that is clearly not hot has no mark.
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
