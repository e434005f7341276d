package goal

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TargetCheck decides for every node whether a pod's replacement on the node improves a requested goal and harms no
// goal. CheckTargets precomputes everything that does not depend on the node.
type TargetCheck struct {
	From cluster.NodeID
	// leavingImproves is true if the eviction improves a goal, whatever the target. LeavingHarms is true if the
	// eviction worsens a goal, whatever the target.
	leavingImproves, LeavingHarms bool
	// limitedAmounts are those whose goals the eviction improves. The improvement counts only on nodes that they allow.
	limitedAmounts []limitedAmount
	needs          []RoomNeed
	groups         []groupEffect
	// returnHelps is true if a landing on From improves a goal. Such a landing changes no other goal.
	returnHelps bool
	sets        *nodeSets
}

// groupEffect holds, for one goal, the effect of a landing in each domain, or on marked and other nodes.
type groupEffect struct {
	domainByNode []int32  // domain of each node; nil if the effect depends on marked
	notCounted   []bool   // by node; nil if all nodes of a domain count
	marked       []bool   // by node
	effects      []effect // by domain index plus one; index 0 is for nodes outside all domains and for those not marked
}

// effect is a set of two flags: harmless if the group goal does not become worse, helpful if a requested group goal
// improves.
type effect uint8

const (
	harmless effect = 1 << iota
	helpful
)

func (g *groupEffect) onNode(n cluster.NodeID) effect {
	switch {
	case g.notCounted != nil && g.notCounted[n]:
		return g.effects[0]
	case g.domainByNode != nil:
		return g.effects[g.domainByNode[n]+1]
	case g.marked[n]:
		return g.effects[1]
	}
	return g.effects[0]
}

// CheckTargets returns the TargetCheck for a pod that leaves `from`. `from` may be NoNode.
func (t *Tracker) CheckTargets(pod cluster.PodID, from cluster.NodeID) TargetCheck {
	a := TargetCheck{From: from, sets: t.sets}
	if from != cluster.NoNode {
		for _, i := range t.ByNode[from] {
			t.Measures[i].addEffects(&a, t, i, pod)
		}
	}
	if same := addLimitedNeeds(t, a.limitedAmounts, pod); same && !a.leavingImproves && len(t.byPod[pod]) == 0 {
		// The eviction can improve only such goals, so the target needs known usage and enough room.
		for k, x := range a.limitedAmounts {
			a.leavingImproves = true
			if known := t.KnownUsage[x.amounts]; known != nil {
				a.needs = append(a.needs, RoomNeed{amount: 1, room: known})
			}
			if k == 0 {
				a.needs = append(a.needs, x.needs...)
			}
		}
	}
	a.needs = slices.Grow(append(a.needs, t.roomNeededOutsideAll(pod)...), len(t.Headroom)+1)
	for i := range t.Headroom {
		if amount := t.Headroom[i].Amounts.Contribution(pod, cluster.NoNode); amount > 0 {
			a.needs = append(a.needs, RoomNeed{amount: amount, room: t.Headroom[i].ByNode, of: &t.Headroom[i]})
		}
	}
	if t.closed != nil {
		a.needs = append(a.needs, RoomNeed{amount: 1, room: t.closed})
	}
	for _, i := range t.byPod[pod] {
		t.Measures[i].addEffects(&a, t, i, pod)
	}
	for _, i := range t.ranking {
		t.Measures[i].addEffects(&a, t, i, pod)
	}
	return a
}

// Acceptable reports whether a replacement on n improves at least one requested goal and worsens no goal, constraints
// included.
func (a *TargetCheck) Acceptable(n cluster.NodeID) bool { return !a.Harms(n) && a.Helps(n) }

// AcceptsAll reports whether all the nodes are ready, and Acceptable is true for all.
func (a *TargetCheck) AcceptsAll(nodes []cluster.NodeID, ready []bool) bool {
	for i := range a.needs {
		x := &a.needs[i]
		for _, n := range nodes {
			if x.amount > x.room[n] && n != a.From {
				return false
			}
		}
	}
	for i := range a.groups {
		g := &a.groups[i]
		for _, n := range nodes {
			if g.onNode(n)&harmless == 0 && n != a.From {
				return false
			}
		}
	}
	for _, n := range nodes {
		if away := n != a.From; !ready[n] || away && a.LeavingHarms || !(away && a.leavingImproves) && !a.Helps(n) {
			return false
		}
	}
	return true
}

// Helps reports whether a replacement on n improves a requested goal.
func (a *TargetCheck) Helps(n cluster.NodeID) bool {
	if n == a.From {
		return a.returnHelps
	}
	if a.leavingImproves || slices.ContainsFunc(a.limitedAmounts, func(x limitedAmount) bool { return x.allows(n) }) {
		return true
	}
	for i := range a.groups {
		if a.groups[i].onNode(n)&helpful != 0 {
			return true
		}
	}
	return false
}

// Harms reports whether a replacement on n worsens a goal.
func (a *TargetCheck) Harms(n cluster.NodeID) bool {
	if n == a.From {
		return false
	}
	for i := range a.needs {
		if x := &a.needs[i]; x.amount > x.room[n] {
			return true
		}
	}
	for i := range a.groups {
		if a.groups[i].onNode(n)&harmless == 0 {
			return true
		}
	}
	return a.LeavingHarms
}

// HarmsWhoeverLeaves reports whether a replacement on n worsens a goal about a group or about the
// ranks of nodes. A displaced pod outside the group cannot make up for the harm.
func (a *TargetCheck) HarmsWhoeverLeaves(n cluster.NodeID) bool {
	for i := range a.needs {
		if x := &a.needs[i]; x.fixed && x.amount > x.room[n] {
			return true
		}
	}
	return slices.ContainsFunc(a.groups, func(g groupEffect) bool { return g.onNode(n)&harmless == 0 })
}
