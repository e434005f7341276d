package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// SetHints lets exactly these nodes carry a steering hint of a kind, beside those
// that carry one in the snapshot. No nodes takes the hints away. A taint changes
// the score of TaintToleration; a label that of NodeAffinity, and, where a pod
// requires it, the feasible nodes.
func (w *ClusterModel) SetHints(kind hints.Kind, nodes []cluster.NodeID) {
	if len(nodes) == 0 && w.Hints.IsEmpty() {
		return
	}
	wasLabelled := w.Hints.HasLabels()
	w.groups.Clear()
	w.Hints = model.NewSteeringHints(w.Snap, kind, nodes)
	if wasLabelled || w.Hints.HasLabels() {
		clear(w.nodeChecks)
		for _, c := range w.ClassList {
			if c.Profile.ReadsHintLabel() || scheduler.PodReadsHintLabel(c.Sample.Object) {
				w.replacements[c.Number] = nil // its node affinity is matched anew
			}
		}
	}
}

// RespondsToHint reports whether a hint of a kind can change where the scheduler puts the
// pod's replacement: whether the pod does not tolerate the taint, or looks at
// the label.
func (w *ClusterModel) RespondsToHint(p cluster.PodID, kind hints.Kind) bool {
	pod := w.Snap.Pods[p].Object
	profile := w.ProfileOf(pod.Spec.SchedulerName)
	switch kind {
	case hints.Taint:
		return profile.ScoresTaints && score.CountUntolerated(score.HintTaints, pod.Spec.Tolerations) > 0
	case hints.Label:
		return profile.ReadsHintLabel() || scheduler.PodReadsHintLabel(pod)
	}
	return false
}
