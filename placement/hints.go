package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	corev1 "k8s.io/api/core/v1"
)

var steering = []corev1.Taint{hints.Repelling()}

// hinted are the steering hints that nodes carry in this world beyond those of
// the snapshot.
type hinted struct {
	taints []int64        // by node, 1 for a taint that the snapshot does not have
	labels []*corev1.Node // by node, the node with the label; nil elsewhere
}

func (h *hinted) taint(n cluster.NodeID) int64 {
	if h.taints == nil {
		return 0
	}
	return h.taints[n]
}

// Hint lets exactly these nodes carry a steering hint of a kind, beside those
// that carry one in the snapshot. No nodes takes the hints away. A taint changes
// the score of TaintToleration; a label that of NodeAffinity, and, where a pod
// requires it, the feasible nodes.
func (w *World) Hint(kind hints.Kind, nodes []cluster.NodeID) {
	if len(nodes) == 0 && w.hinted.taints == nil && w.hinted.labels == nil {
		return
	}
	wasLabelled := w.hinted.labels != nil
	w.groups.forget()
	w.hinted = hinted{}
	switch {
	case len(nodes) == 0:
	case kind == hints.Taint:
		w.hinted.taints = make([]int64, len(w.snap.Nodes))
		for _, n := range nodes {
			if !hints.Tainted(w.snap.Nodes[n].Object) {
				w.hinted.taints[n] = 1
			}
		}
	case kind == hints.Label:
		w.hinted.labels = make([]*corev1.Node, len(w.snap.Nodes))
		for _, n := range nodes {
			w.hinted.labels[n] = hints.Marked(w.snap.Nodes[n].Object)
		}
	}
	if wasLabelled || w.hinted.labels != nil {
		clear(w.views)
		for _, c := range w.classes {
			if c.profile.hears() || hears(c.sample.Object) {
				w.incoming[c.number] = nil // its node affinity is matched anew
			}
		}
	}
}

// object is the node as the scheduler would see it in this world, its taints
// excepted.
func (w *clusterState) object(n int) *corev1.Node {
	if w.hinted.labels != nil && w.hinted.labels[n] != nil {
		return w.hinted.labels[n]
	}
	return w.snap.Nodes[n].Object
}

// Hears reports whether a hint of a kind can change where the scheduler puts the
// pod's replacement: whether the pod does not tolerate the taint, or looks at
// the label.
func (w *clusterState) Hears(p cluster.PodID, kind hints.Kind) bool {
	pod := w.snap.Pods[p].Object
	profile := w.profileOf(pod.Spec.SchedulerName)
	switch kind {
	case hints.Taint:
		return profile.scoresTaints && disliked(steering, pod.Spec.Tolerations) > 0
	case hints.Label:
		return profile.hears() || hears(pod)
	}
	return false
}

// hears reports whether the pod's node selector or node affinity looks at the
// label.
func hears(pod *corev1.Pod) bool {
	if _, ok := pod.Spec.NodeSelector[hints.Key]; ok {
		return true
	}
	a := pod.Spec.Affinity
	return a != nil && a.NodeAffinity != nil && looksAtHint(a.NodeAffinity)
}

// hears is the same for what the profile asks of every pod's nodes.
func (p *profile) hears() bool { return p.AddedAffinity != nil && looksAtHint(p.AddedAffinity) }

func looksAtHint(a *corev1.NodeAffinity) bool {
	looks := func(t corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return r.Key == hints.Key })
	}
	if r := a.RequiredDuringSchedulingIgnoredDuringExecution; r != nil && slices.ContainsFunc(r.NodeSelectorTerms, looks) {
		return true
	}
	return slices.ContainsFunc(a.PreferredDuringSchedulingIgnoredDuringExecution,
		func(t corev1.PreferredSchedulingTerm) bool { return looks(t.Preference) })
}

// Possible are the nodes on which the replacement may land, sorted.
func (p Prediction) Possible() []cluster.NodeID {
	var out []cluster.NodeID
	for _, s := range [...]struct {
		weight float64
		State
	}{{1 - p.WeightGone, p.Terminating}, {p.WeightGone, p.Gone}} {
		if s.weight > 0 {
			out = append(out, s.Winners...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
