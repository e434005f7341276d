package planner

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
)

// PressureHint is how a node says that it is under pressure, whoever wrote it: by a
// label, or by a taint with the effect PreferNoSchedule. Empty keys say nothing.
type PressureHint struct {
	LabelKey, LabelValue string
	TaintKey             string
}

// on says whether a node carries the hint.
func (h PressureHint) on(n *corev1.Node) bool {
	if v, ok := n.Labels[h.LabelKey]; ok && h.LabelKey != "" && v == h.LabelValue {
		return true
	}
	for i := range n.Spec.Taints {
		if t := &n.Spec.Taints[i]; h.TaintKey != "" && t.Key == h.TaintKey && t.Effect == corev1.TaintEffectPreferNoSchedule {
			return true
		}
	}
	return false
}

// pressed are the nodes that carry the hint: they are drained first, and nothing is
// moved to them.
func (h PressureHint) pressed(s *cluster.Snapshot) []bool {
	out := make([]bool, len(s.Nodes))
	for i := range s.Nodes {
		out[i] = h.on(s.Nodes[i].Object)
	}
	return out
}

// onlyPressed says that the replacement could help on other nodes, were these not
// under pressure.
func (c *scene) onlyPressed(places *arrivals, pr placement.Prediction) (plan.Reason, bool) {
	n := 0
	for id := range pr.Gone.Fitting.All() {
		if id != places.from && c.s.Nodes[id].Ready && c.goals.pressed[id] && places.serve(id) {
			n++
		}
	}
	if n == 0 {
		return plan.Reason{}, false
	}
	which := "which carry"
	if n == 1 {
		which = "which carries"
	}
	return plan.Reason{Code: plan.NodesPressed, Message: fmt.Sprintf("its replacement would help on %s, %s the pressure hint, and on none without", otherNodes(n), which)}, true
}
