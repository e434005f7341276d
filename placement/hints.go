package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// SetHints replaces the model's steering hints by hints of this kind on exactly these nodes. The
// hints of the snapshot remain. A taint changes the score of TaintToleration. A label changes the
// score of NodeAffinity, and, if a pod requires it, the feasible nodes.
func (m *ClusterModel) SetHints(kind hints.Kind, nodes []cluster.NodeID) {
	if len(nodes) == 0 && m.Cluster.Hints.IsEmpty() {
		return
	}
	wasLabelled := m.Cluster.Hints.HasLabels()
	m.groups.Clear()
	m.Cluster.Hints = model.NewSteeringHints(m.Cluster.Snap, kind, nodes)
	if wasLabelled || m.Cluster.Hints.HasLabels() {
		clear(m.nodeChecks)
		for _, c := range m.Cluster.ClassList {
			if c.Profile.ReadsHintLabel(c.Sample.Object) {
				m.replacements[c.Number] = nil // its node affinity must be matched again
			}
		}
	}
}

// RespondsToHint reports whether a hint of the kind can change the placement of the pod's
// replacement, because the pod does not tolerate the taint or reads the label.
func (m *ClusterModel) RespondsToHint(p cluster.PodID, kind hints.Kind) bool {
	pod := m.Cluster.Snap.Pods[p].Object
	profile := m.Cluster.ProfileOf(pod.Spec.SchedulerName)
	switch kind {
	case hints.Taint:
		return profile.Weights.TaintToleration > 0 && score.CountUntolerated(score.HintTaints, pod.Spec.Tolerations) > 0
	case hints.Label:
		return profile.ReadsHintLabel(pod)
	}
	return false
}
