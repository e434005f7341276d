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
func (w *ClusterModel) Hint(kind hints.Kind, nodes []cluster.NodeID) {
	if len(nodes) == 0 && w.Hints.taints == nil && w.Hints.labels == nil {
		return
	}
	wasLabelled := w.Hints.labels != nil
	w.groups.Clear()
	w.Hints = SteeringHints{}
	switch {
	case len(nodes) == 0:
	case kind == hints.Taint:
		w.Hints.taints = make([]int64, len(w.Snap.Nodes))
		for _, n := range nodes {
			if !hints.Tainted(w.Snap.Nodes[n].Object) {
				w.Hints.taints[n] = 1
			}
		}
	case kind == hints.Label:
		w.Hints.labels = make([]*corev1.Node, len(w.Snap.Nodes))
		for _, n := range nodes {
			w.Hints.labels[n] = hints.Marked(w.Snap.Nodes[n].Object)
		}
	}
	if wasLabelled || w.Hints.labels != nil {
		clear(w.nodeChecks)
		for _, c := range w.ClassList {
			if c.profile.ReadsHintLabel() || PodReadsHintLabel(c.sample.Object) {
				w.replacements[c.number] = nil // its node affinity is matched anew
			}
		}
	}
}

// Hears reports whether a hint of a kind can change where the scheduler puts the
// pod's replacement: whether the pod does not tolerate the taint, or looks at
// the label.
func (w *ClusterModel) Hears(p cluster.PodID, kind hints.Kind) bool {
	pod := w.Snap.Pods[p].Object
	profile := w.ProfileOf(pod.Spec.SchedulerName)
	switch kind {
	case hints.Taint:
		return profile.scoresTaints && CountUntolerated(steering, pod.Spec.Tolerations) > 0
	case hints.Label:
		return profile.ReadsHintLabel() || PodReadsHintLabel(pod)
	}
	return false
}
