package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// NodeMeasure measures NodeBelow: the amount over the limit, in milliCPU or bytes. For ratios the unit is millionths.
type NodeMeasure struct {
	Amounts            *cluster.Amounts
	Node               cluster.NodeID
	used, limit, Total int64
	// uncertain is the part of used that may no longer be in use. Excess ignores the uncertain part, but addHeadroom
	// counts it.
	uncertain int64
}

// Rounding avoids errors of floating point: 0.9 of 10000m gives 9000m, not 8999m.
const Rounding = 1e-6

func newNodeMeasure(g plan.Goal, amounts *cluster.Amounts) *NodeMeasure {
	total := amounts.Total(g.Node)
	used, _, _ := amounts.NodeUsed(g.Node)
	return &NodeMeasure{amounts, g.Node, used, int64(g.Limit*float64(total) + Rounding), total, amounts.Uncertain(g.Node)}
}

func (b *NodeMeasure) clone() Measure {
	c := *b
	return &c
}

func (b *NodeMeasure) Excess() int64 { return max(0, b.used-b.uncertain-b.limit) }

func (b *NodeMeasure) ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64 {
	return max(0, b.used+b.usageChange(pod, from, to)-b.uncertain-b.limit)
}

func (b *NodeMeasure) Move(pod cluster.PodID, from, to cluster.NodeID) {
	b.used += b.usageChange(pod, from, to)
}

func (b *NodeMeasure) usageChange(pod cluster.PodID, from, to cluster.NodeID) int64 {
	switch {
	case from == to:
		return 0
	case from == b.Node:
		return -b.Amounts.Contribution(pod, from)
	case to == b.Node:
		return b.Amounts.Contribution(pod, to)
	}
	return 0
}

func (b *NodeMeasure) Reported() float64 {
	if b.Total == 0 {
		return 0
	}
	return plan.Round(float64(b.Excess()) / float64(b.Total))
}

// requestAmounts caches the requests of all pods by resource, for goals without Amounts.
type requestAmounts map[string]*cluster.Amounts

func (r requestAmounts) forGoal(s *cluster.Snapshot, g plan.Goal) *cluster.Amounts {
	if g.Amounts != nil {
		return g.Amounts
	}
	if r[g.Resource] == nil {
		r[g.Resource] = s.Amounts(cluster.Measure{Resource: g.Resource}, cluster.UsageRequirements{})
	}
	return r[g.Resource]
}

// Measure computes how far one goal is from being met, as an integer in the goal's own unit.
type Measure interface {
	// Excess returns the amount over the limit in milliCPU, bytes or millionths, or the number of pods that must
	// move. If the goal is met, Excess returns 0.
	Excess() int64
	// ExcessAfter returns the excess after the pod moves. Either node may be NoNode.
	ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64
	Move(pod cluster.PodID, from, to cluster.NodeID)
	// Reported returns the excess in the unit of plan.Goal.
	Reported() float64
	// clone returns a copy that follows moves independently.
	clone() Measure
}
