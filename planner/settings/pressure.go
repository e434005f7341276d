package settings

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	corev1 "k8s.io/api/core/v1"
	"time"
)

// PressureHint is how a node says that it is under pressure, whoever wrote it: by a
// label, or by a taint with the effect PreferNoSchedule. Empty keys say nothing.
type PressureHint struct {
	LabelKey, LabelValue string
	TaintKey             string
}

// ActiveOn says whether a node carries the hint, and it still says something: what is on
// record as ours says nothing any more once it has expired, since nobody then vouches
// for it. What others wrote has no expiry. Placement goes by what stands on the node
// all the same, for so does the scheduler.
func (h PressureHint) ActiveOn(n *corev1.Node, now time.Time) bool {
	label, taint := h.present(n)
	if !label && !taint {
		return false
	}
	ours, recorded := pressure.Of(n)
	if !recorded || !ours.Expired(now) {
		return true
	}
	return label && ours.Label != h.LabelKey+"="+h.LabelValue || taint && ours.Taint != h.TaintKey
}

// present says whether the label and the taint are on the node.
func (h PressureHint) present(n *corev1.Node) (label, taint bool) {
	v, labelled := n.Labels[h.LabelKey]
	for i := range n.Spec.Taints {
		if t := &n.Spec.Taints[i]; h.TaintKey != "" && t.Key == h.TaintKey && t.Effect == corev1.TaintEffectPreferNoSchedule {
			taint = true
		}
	}
	return labelled && h.LabelKey != "" && v == h.LabelValue, taint
}

// NodesUnderPressure are the nodes that carry the hint: they are drained first, and nothing is
// moved to them.
func (h PressureHint) NodesUnderPressure(s *cluster.Snapshot, now time.Time) []bool {
	out := make([]bool, len(s.Nodes))
	for i := range s.Nodes {
		out[i] = h.ActiveOn(s.Nodes[i].Object, now)
	}
	return out
}
