package planner

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
)

// PressureHint is how a node says that it is under pressure, whoever wrote it: by a
// label, or by a taint with the effect PreferNoSchedule. Empty keys say nothing.
type PressureHint struct {
	LabelKey, LabelValue string
	TaintKey             string
}

// on says whether a node carries the hint, and it still says something: what is on
// record as ours says nothing any more once it has expired, since nobody then vouches
// for it. What others wrote has no expiry. Placement goes by what stands on the node
// all the same, for so does the scheduler.
func (h PressureHint) on(n *corev1.Node, now time.Time) bool {
	label, taint := h.stands(n)
	if !label && !taint {
		return false
	}
	ours, recorded := pressure.Of(n)
	if !recorded || !ours.Expired(now) {
		return true
	}
	return label && ours.Label != h.LabelKey+"="+h.LabelValue || taint && ours.Taint != h.TaintKey
}

// stands says whether the label and the taint are on the node.
func (h PressureHint) stands(n *corev1.Node) (label, taint bool) {
	v, labelled := n.Labels[h.LabelKey]
	for i := range n.Spec.Taints {
		if t := &n.Spec.Taints[i]; h.TaintKey != "" && t.Key == h.TaintKey && t.Effect == corev1.TaintEffectPreferNoSchedule {
			taint = true
		}
	}
	return labelled && h.LabelKey != "" && v == h.LabelValue, taint
}

// pressed are the nodes that carry the hint: they are drained first, and nothing is
// moved to them.
func (h PressureHint) pressed(s *cluster.Snapshot, now time.Time) []bool {
	out := make([]bool, len(s.Nodes))
	for i := range s.Nodes {
		out[i] = h.on(s.Nodes[i].Object, now)
	}
	return out
}

// expiredHints says which nodes carry a hint that has expired and that nobody took
// away; empty when none does. The program that keeps hints takes them away within
// seconds, so that nobody keeps these.
func expiredHints(s *cluster.Snapshot, now time.Time) string {
	var nodes []string
	for i := range s.Nodes {
		if h, ours := pressure.Of(written(s, &s.Nodes[i])); ours && h.Expired(now) {
			nodes = append(nodes, s.Nodes[i].Name)
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	carry := "carry a pressure hint that has"
	if len(nodes) == 1 {
		carry = "carries a pressure hint that has"
	}
	return fmt.Sprintf("%s %s expired; goals ignore it, pods may still avoid them (%s): run `evenkeel hints gc`", nodesWord(len(nodes)), carry, few(nodes))
}

// onlyPressed says that the replacement could help on other nodes, were these not
// under pressure.
func (c *scene) onlyPressed(places *arrivals, pr prediction.Prediction) (plan.Reason, bool) {
	n := 0
	for id := range pr.Gone.FeasibleSet.All() {
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
	return plan.Reason{Code: plan.NodesUnderPressure, Message: fmt.Sprintf("its replacement would help on %s, %s the pressure hint, and on none without", otherNodes(n), which)}, true
}
