package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	corev1 "k8s.io/api/core/v1"
)

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

// Hears reports whether a hint of a kind can change where the scheduler puts the
// pod's replacement: whether the pod does not tolerate the taint, or looks at
// the label.
func (w *World) Hears(p cluster.PodID, kind hints.Kind) bool {
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
