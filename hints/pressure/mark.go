package pressure

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Mark is the mark of a node under pressure: a label, or a taint with the effect PreferNoSchedule. The hint
// counts regardless of its writer. An empty key matches nothing.
type Mark struct {
	LabelKey, LabelValue string
	TaintKey             string
	// Owned tells the hints of Evenkeel from records that others wrote.
	Owned Owned
}

// ActiveOn reports whether the node carries a valid hint. Hints written by Evenkeel are valid until they expire.
// Hints of other writers do not expire. Placement still uses every label and taint on the node, as the scheduler
// does.
func (h Mark) ActiveOn(n *corev1.Node, now time.Time) bool {
	label, taint := h.present(n)
	if !label && !taint {
		return false
	}
	ours, recorded := h.Owned.FromNode(n)
	if !recorded || !ours.Expired(now) {
		return true
	}
	return label && ours.Label != h.LabelKey+"="+h.LabelValue || taint && ours.Taint != h.TaintKey
}

// present reports whether the label and the taint are on the node.
func (h Mark) present(n *corev1.Node) (label, taint bool) {
	v, labelled := n.Labels[h.LabelKey]
	for i := range n.Spec.Taints {
		if t := &n.Spec.Taints[i]; h.TaintKey != "" && t.Key == h.TaintKey && t.Effect == corev1.TaintEffectPreferNoSchedule {
			taint = true
		}
	}
	return labelled && h.LabelKey != "" && v == h.LabelValue, taint
}

// NodesUnderPressure reports, by node, whether the node carries a valid hint. The planner drains these nodes first
// and moves nothing to them.
func (h Mark) NodesUnderPressure(s *cluster.Snapshot, now time.Time) []bool {
	out := make([]bool, len(s.Nodes))
	for i := range s.Nodes {
		out[i] = h.ActiveOn(s.Nodes[i].Object, now)
	}
	return out
}
