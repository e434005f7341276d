package window

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
)

// Add adds a sample. Samples must arrive in the order in which they were taken. If a sample was
// taken much earlier than the previous one, Add drops all earlier samples. nodes lists the nodes of
// the cluster; Add drops all other nodes. A measurement with an unchanged time counts only once.
// place returns the location of a pod, or false to omit the pod.
func (w *Windows) Add(s usage.Sample, nodes []usage.Node, place func(pod string) (PodPlace, bool)) {
	if s.Taken.Before(w.lastSampleTime.Add(-cluster.MaxClockSkew)) { // the clock was set back, so old and new samples cannot be ordered
		*w = *New(w.opts)
	}
	if w.podClock.base.IsZero() {
		w.podClock.base = s.Taken.Add(-24 * time.Hour)
	}
	if s.Taken.After(w.lastSampleTime) {
		w.lastSampleTime = s.Taken
	}
	if s.FromHistory && s.Taken.After(w.historyUntil) {
		w.historyUntil = s.Taken
	}
	w.problems = s.Problems
	w.sampleCount++
	w.dropDeletedNodes(nodes)
	for i := range nodes {
		if r, ok := s.Nodes[nodes[i].Name]; ok {
			w.addNode(&nodes[i], r, s.Taken.Add(cluster.MaxClockSkew))
		}
	}
	w.updateStates(nodes)
	w.addPods(s, place)
}

// dropDeletedNodes drops nodes that no longer exist or that another machine has replaced.
func (w *Windows) dropDeletedNodes(nodes []usage.Node) {
	here := make(map[string]*usage.Node, len(nodes))
	for i := range nodes {
		here[nodes[i].Name] = &nodes[i]
	}
	for name, n := range w.nodes {
		if now := here[name]; now == nil || now.UID != n.uid {
			delete(w.nodes, name)
		}
	}
}

// addNode adds the new measurements of a node, each resource with its own time. addNode omits measurements later
// than latest and measurements from before the node was created. A source may still report values of an earlier
// machine of the same name.
func (w *Windows) addNode(n *usage.Node, r usage.Reading, latest time.Time) {
	x := w.nodes[n.Name]
	if x == nil {
		x = &node{name: n.Name, uid: n.UID, used: map[string]*series{}, states: make([]watchedNode, len(w.opts.Watches))}
	}
	x.capacity, x.physical = n.Capacity, cluster.PhysicalOf(n.Allocatable, n.Capacity)
	for resource, v := range r.Used {
		at := r.At
		if own, ok := r.Times[resource]; ok {
			at = own
		}
		if at.IsZero() || at.After(latest) || at.Before(n.Created) || v < 0 && !usage.MayBeNegative(resource) {
			continue
		}
		of := x.used[resource]
		if of == nil {
			of = &series{}
			x.used[resource] = of
		}
		if last, ok := of.last(); ok && at.UnixMilli() <= last.at {
			continue
		}
		of.sample = w.sampleCount
		of.push(nodeSample{at.UnixMilli(), v}, w.opts.maxSamples(max(w.opts.Window, w.opts.KeepNodeSamples)))
		w.nodes[n.Name] = x
	}
	if at := r.At.UnixMilli(); !r.At.IsZero() && !r.At.After(latest) && !r.At.Before(n.Created) {
		x.at = max(x.at, at)
	}
}
