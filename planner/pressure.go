package planner

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
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

// expiredHints says which nodes carry a hint that has expired and that nobody took
// away; empty when none does. The program that keeps hints takes them away within
// seconds, so that nobody keeps these.
func expiredHints(s *cluster.Snapshot, now time.Time) string {
	var nodes []string
	for i := range s.Nodes {
		if h, ours := pressure.Of(ActualNode(s, &s.Nodes[i])); ours && h.Expired(now) {
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
	return fmt.Sprintf("%s %s expired; goals ignore it, pods may still avoid them (%s): run `evenkeel hints gc`", CountNodes(len(nodes)), carry, NameFew(nodes))
}

// onlyUnderPressure says that the replacement could help on other nodes, were these not
// under pressure.
func (c *State) onlyUnderPressure(places *TargetCheck, pr placement.Prediction) (plan.Reason, bool) {
	n := 0
	for id := range pr.Gone.Fitting.All() {
		if id != places.From && c.Snapshot.Nodes[id].Ready && c.Goals.UnderPressure[id] && places.Acceptable(id) {
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
