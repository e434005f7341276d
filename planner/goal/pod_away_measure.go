package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// podAwayMeasure measures PodAway: 1 while the pod has not left, and while its replacement is on a node that does not
// meet the goal. A plan moves a pod once, so a move back to the start undoes the move, and any other move to the start
// returns the replacement. A replacement without a predicted node meets the goal.
type podAwayMeasure struct {
	start     cluster.NodeID
	at        cluster.NodeID // of the replacement, if left
	left      bool
	mayReturn bool
	targets   []bool
}

func newPodAwayMeasure(c *measureCache, g *plan.Goal) Measure {
	return &podAwayMeasure{start: c.snapshot.Pods[g.Pods[0]].Node, targets: g.Targets, mayReturn: g.MayReturn}
}

func (m *podAwayMeasure) watch(t *Tracker, i int32) {
	pod := t.Goals[i].Pods[0]
	t.byPod[pod] = append(t.byPod[pod], i)
}

func (m *podAwayMeasure) clone() Measure {
	c := *m
	return &c
}

func (m *podAwayMeasure) Excess() int64 {
	if m.start == cluster.NoNode || m.left && m.meets(m.at) {
		return 0
	}
	return 1
}

// meets reports whether placing the replacement on the node meets the goal.
func (m *podAwayMeasure) meets(n cluster.NodeID) bool {
	switch {
	case n == cluster.NoNode:
		return true
	case n == m.start:
		return m.mayReturn
	}
	return m.targets == nil || m.targets[n]
}

func (m *podAwayMeasure) ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64 {
	after := *m
	after.Move(pod, from, to)
	return after.Excess()
}

func (m *podAwayMeasure) ExcessAfterLeaving(cluster.PodID, cluster.NodeID) int64 { return 0 }

func (m *podAwayMeasure) CountsLanding(cluster.NodeID) bool { return true }

func (m *podAwayMeasure) Move(_ cluster.PodID, _, to cluster.NodeID) {
	m.left, m.at = !m.left || to != m.start, to
}

func (m *podAwayMeasure) Reported() float64 { return float64(m.Excess()) }

// addEffects adds the effect of leaving, or that of a landing if only some nodes meet the goal.
func (m *podAwayMeasure) addEffects(a *TargetCheck, t *Tracker, i int32, pod cluster.PodID) {
	met, helps := m.Excess() == 0, effect(0)
	if !met && t.Asks(int(i), pod) {
		helps = helpful
	}
	switch {
	case m.targets == nil:
		a.leavingImproves = a.leavingImproves || helps != 0
	case met:
		a.groups = append(a.groups, groupEffect{marked: m.targets, effects: []effect{0, harmless}})
	default:
		a.groups = append(a.groups, groupEffect{marked: m.targets, effects: []effect{harmless, harmless | helps}})
	}
	a.returnHelps = a.returnHelps || m.mayReturn && helps != 0
}
