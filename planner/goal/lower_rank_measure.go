package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// lowerRankMeasure measures NoLowerRank by the pods whose node ranks lower than their node in the
// snapshot. One goal is about all pods of a strategy, so the Tracker does not list it by pod.
type lowerRankMeasure struct {
	pods  []cluster.Pod
	ranks *plan.NodeRanks
	lower int64 // pods on a node of a lower rank
}

func newLowerRankMeasure(c *measureCache, g *plan.Goal) Measure {
	return &lowerRankMeasure{pods: c.snapshot.Pods, ranks: g.Ranks}
}

func (m *lowerRankMeasure) watch(t *Tracker, i int32) { t.ranking = append(t.ranking, i) }

func (m *lowerRankMeasure) clone() Measure {
	c := *m
	return &c
}

// ranksOf returns the ranks of the nodes for a pod, or nil if the goal is not about the pod.
func (m *lowerRankMeasure) ranksOf(pod cluster.PodID) []int64 {
	class := m.ranks.ClassOf[pod]
	if class == plan.NoClass || m.pods[pod].Node == cluster.NoNode {
		return nil
	}
	return m.ranks.OfClass[class]
}

// isLower returns 1 if the node ranks lower for the pod than its node in the snapshot, and otherwise 0.
func (m *lowerRankMeasure) isLower(pod cluster.PodID, n cluster.NodeID) int64 {
	ranks := m.ranksOf(pod)
	if ranks == nil || n == cluster.NoNode || ranks[n] >= ranks[m.pods[pod].Node] {
		return 0
	}
	return 1
}

func (m *lowerRankMeasure) Excess() int64 { return m.lower }

func (m *lowerRankMeasure) ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64 {
	return m.lower - m.isLower(pod, from) + m.isLower(pod, to)
}

func (m *lowerRankMeasure) ExcessAfterLeaving(pod cluster.PodID, from cluster.NodeID) int64 {
	return m.ExcessAfter(pod, from, cluster.NoNode)
}

func (*lowerRankMeasure) CountsLanding(cluster.NodeID) bool { return true }

func (m *lowerRankMeasure) Move(pod cluster.PodID, from, to cluster.NodeID) {
	m.lower = m.ExcessAfter(pod, from, to)
}

func (m *lowerRankMeasure) Reported() float64 { return float64(m.lower) }

// addEffects adds the rank that a node needs. The ranks are compared like the room on nodes, and
// need no list for each pod.
func (m *lowerRankMeasure) addEffects(a *TargetCheck, _ *Tracker, _ int32, pod cluster.PodID) {
	if ranks := m.ranksOf(pod); ranks != nil && m.isLower(pod, a.From) == 0 {
		a.needs = append(a.needs, RoomNeed{amount: ranks[m.pods[pod].Node], room: ranks, fixed: true})
	}
}
