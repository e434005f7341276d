package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"slices"
)

// Unbounded is the headroom of a node that no goal is about.
const Unbounded = int64(1) << 62

// Headroom holds the amount that each node can take before a goal about that node becomes worse, for one way
// to count.
type Headroom struct {
	Amounts *cluster.Amounts
	ByNode  []int64
}

// applyMove updates the headroom after a pod moves.
func (h Headroom) applyMove(pod cluster.PodID, from, to cluster.NodeID) {
	if from != cluster.NoNode && h.ByNode[from] != Unbounded {
		h.ByNode[from] += h.Amounts.Contribution(pod, from)
	}
	if to != cluster.NoNode && h.ByNode[to] != Unbounded {
		h.ByNode[to] -= h.Amounts.Contribution(pod, to)
	}
}

// RoomNeed holds the amount of a counted resource that a pod needs, and the room on each node.
type RoomNeed struct {
	amount int64
	room   []int64 // by node
}

func usageKnown(a *cluster.Amounts, n cluster.NodeID) bool {
	_, _, known := a.NodeUsed(n)
	return known
}

// HasRoom reports whether the node has room for all needs.
func HasRoom(needs []RoomNeed, n cluster.NodeID) bool {
	return !slices.ContainsFunc(needs, func(x RoomNeed) bool { return x.amount > x.room[n] })
}
