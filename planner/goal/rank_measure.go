package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// rankMeasure measures NoLowerRank by the pods whose node ranks lower than their node in the
// snapshot. One goal is about all pods of a strategy, so the Tracker does not list it by pod.
type rankMeasure struct {
	pods  []cluster.Pod
	ranks *plan.NodeRanks
	lower int64 // pods on a node of a lower rank
}

func newRankMeasure(c *measureCache, g *plan.Goal) Measure {
	return &rankMeasure{pods: c.snapshot.Pods, ranks: g.Ranks}
}

func (m *rankMeasure) watch(t *Tracker, i int32) { t.ranking = append(t.ranking, i) }

func (m *rankMeasure) clone() Measure {
	c := *m
	return &c
}

// ranksOf returns the ranks of the nodes for a pod, or nil if the goal is not about the pod.
func (m *rankMeasure) ranksOf(pod cluster.PodID) []int64 {
	class := m.ranks.ClassOf[pod]
	if class == plan.NoClass || m.pods[pod].Node == cluster.NoNode {
		return nil
	}
	return m.ranks.OfClass[class]
}

// isLower returns 1 if the node ranks lower for the pod than its node in the snapshot, and otherwise 0.
func (m *rankMeasure) isLower(pod cluster.PodID, n cluster.NodeID) int64 {
	ranks := m.ranksOf(pod)
	if ranks == nil || n == cluster.NoNode || ranks[n] >= ranks[m.pods[pod].Node] {
		return 0
	}
	return 1
}

func (m *rankMeasure) Excess() int64 { return m.lower }

func (m *rankMeasure) ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64 {
	return m.lower - m.isLower(pod, from) + m.isLower(pod, to)
}

func (m *rankMeasure) ExcessAfterLeaving(pod cluster.PodID, from cluster.NodeID) int64 {
	return m.ExcessAfter(pod, from, cluster.NoNode)
}

func (*rankMeasure) CountsLanding(cluster.NodeID) bool { return true }

func (m *rankMeasure) Move(pod cluster.PodID, from, to cluster.NodeID) {
	m.lower = m.ExcessAfter(pod, from, to)
}

func (m *rankMeasure) Reported() float64 { return float64(m.lower) }

// addEffects adds the rank that a node needs. The ranks are compared like the room on nodes, and
// need no list for each pod.
func (m *rankMeasure) addEffects(a *TargetCheck, _ *Tracker, _ int32, pod cluster.PodID) {
	if ranks := m.ranksOf(pod); ranks != nil && m.isLower(pod, a.From) == 0 {
		a.needs = append(a.needs, RoomNeed{amount: ranks[m.pods[pod].Node], room: ranks, fixed: true})
	}
}
