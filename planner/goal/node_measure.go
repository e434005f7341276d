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

func newNodeMeasure(c *measureCache, g *plan.Goal) Measure {
	amounts := c.requests.forGoal(c.snapshot, g)
	total := amounts.Total(g.Node)
	used, _, _ := amounts.NodeUsed(g.Node)
	return &NodeMeasure{amounts, g.Node, used, int64(g.Limit*float64(total) + Rounding), total, amounts.Uncertain(g.Node)}
}

func (b *NodeMeasure) watch(t *Tracker, i int32) {
	t.ByNode[b.Node] = append(t.ByNode[b.Node], i)
	t.addHeadroom(b, &t.Goals[i])
}

// addEffects adds the effect of leaving the node. The Headroom of the Tracker limits landings on it.
func (b *NodeMeasure) addEffects(a *TargetCheck, t *Tracker, i int32, pod cluster.PodID) {
	before, after := b.Excess(), b.ExcessAfter(pod, a.From, cluster.NoNode)
	a.LeavingHarms = a.LeavingHarms || after > before
	switch {
	case after >= before || !t.Asks(int(i), pod):
	case t.roomOutsideGoals[b.Amounts].byNode != nil:
		a.limitedAmounts = append(a.limitedAmounts, limitedAmount{amounts: b.Amounts, strategy: t.Goals[i].Strategy})
	default:
		a.leavingImproves = true
	}
}

func (b *NodeMeasure) clone() Measure {
	c := *b
	return &c
}

func (b *NodeMeasure) Excess() int64 { return max(0, b.used-b.uncertain-b.limit) }

func (b *NodeMeasure) ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64 {
	return max(0, b.used+b.usageChange(pod, from, to)-b.uncertain-b.limit)
}

func (b *NodeMeasure) ExcessAfterLeaving(pod cluster.PodID, from cluster.NodeID) int64 {
	return b.ExcessAfter(pod, from, cluster.NoNode)
}

func (*NodeMeasure) CountsLanding(cluster.NodeID) bool { return true }

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

func (r requestAmounts) forGoal(s *cluster.Snapshot, g *plan.Goal) *cluster.Amounts {
	if g.Amounts != nil {
		return g.Amounts
	}
	if r[g.Resource] == nil {
		r[g.Resource] = s.Amounts(cluster.Measure{Resource: g.Resource}, cluster.UsageRequirements{})
	}
	return r[g.Resource]
}
