package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// below measures NodeBelow: the amount over the limit, in milliCPU, bytes, or, of
// ratios, millionths.
type below struct {
	amounts            *cluster.Amounts
	node               cluster.NodeID
	used, limit, total int64
	// doubt is how much of used may be gone already: it is nothing over the limit, but
	// takes the room it would take (see tracker.bound).
	doubt int64
}

// rounding lets a fraction such as 0.9 of 10000m be 9000m, not 8999m.
const rounding = 1e-6

func newBelow(g plan.Goal, amounts *cluster.Amounts) *below {
	total := amounts.Total(g.Node)
	used, _, _ := amounts.NodeUsed(g.Node)
	return &below{amounts, g.Node, used, int64(g.Limit*float64(total) + rounding), total, amounts.Uncertain(g.Node)}
}

func (b *below) clone() measure {
	c := *b
	return &c
}

func (b *below) excess() int64 { return max(0, b.used-b.doubt-b.limit) }

func (b *below) with(pod cluster.PodID, from, to cluster.NodeID) int64 {
	return max(0, b.used+b.change(pod, from, to)-b.doubt-b.limit)
}

func (b *below) move(pod cluster.PodID, from, to cluster.NodeID) { b.used += b.change(pod, from, to) }

func (b *below) change(pod cluster.PodID, from, to cluster.NodeID) int64 {
	switch {
	case from == to:
		return 0
	case from == b.node:
		return -b.amounts.Contribution(pod, from)
	case to == b.node:
		return b.amounts.Contribution(pod, to)
	}
	return 0
}

func (b *below) reported() float64 {
	if b.total == 0 {
		return 0
	}
	return plan.Round(float64(b.excess()) / float64(b.total))
}
