package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// below measures NodeBelow: requested amount over the limit, in milliCPU or bytes.
type below struct {
	s                  *cluster.Snapshot
	node               cluster.NodeID
	resource           string
	used, limit, total int64
}

// rounding lets a fraction such as 0.9 of 10000m be 9000m, not 8999m.
const rounding = 1e-6

func newBelow(s *cluster.Snapshot, g plan.Goal) *below {
	total := s.Nodes[g.Node].Allocatable.Get(g.Resource)
	b := &below{s, g.Node, g.Resource, 0, int64(g.Limit*float64(total) + rounding), total}
	for _, id := range s.Nodes[g.Node].Pods {
		if p := &s.Pods[id]; !p.Terminal {
			b.used += p.Requests.Get(g.Resource)
		}
	}
	return b
}

func (b *below) clone() measure {
	c := *b
	return &c
}

func (b *below) excess() int64 { return max(0, b.used-b.limit) }

func (b *below) with(pod cluster.PodID, from, to cluster.NodeID) int64 {
	return max(0, b.used+b.change(pod, from, to)-b.limit)
}

func (b *below) move(pod cluster.PodID, from, to cluster.NodeID) { b.used += b.change(pod, from, to) }

func (b *below) change(pod cluster.PodID, from, to cluster.NodeID) int64 {
	req := b.s.Pods[pod].Requests.Get(b.resource)
	switch {
	case from == to:
		return 0
	case from == b.node:
		return -req
	case to == b.node:
		return req
	}
	return 0
}

func (b *below) reported() float64 {
	if b.total == 0 {
		return 0
	}
	return plan.Round(float64(b.excess()) / float64(b.total))
}
