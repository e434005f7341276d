package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"slices"
)

// Unbounded is the headroom of a node that no goal is about.
const Unbounded = int64(1) << 62

// Headroom holds, for one way to count, how much more each node can take before a goal about it is
// worse off.
type Headroom struct {
	Amounts *cluster.Amounts
	ByNode  []int64
}

// follow updates the headroom after a pod moves.
func (h Headroom) follow(pod cluster.PodID, from, to cluster.NodeID) {
	if from != cluster.NoNode && h.ByNode[from] != Unbounded {
		h.ByNode[from] += h.Amounts.Contribution(pod, from)
	}
	if to != cluster.NoNode && h.ByNode[to] != Unbounded {
		h.ByNode[to] -= h.Amounts.Contribution(pod, to)
	}
}

// addHeadroom records how much more the goal allows on its node. limit is the limit of the goal.
func (t *Tracker) addHeadroom(b *NodeMeasure, limit float64) {
	at := slices.IndexFunc(t.Headroom, func(h Headroom) bool { return h.Amounts == b.Amounts })
	if at < 0 {
		room := make([]int64, len(t.Snapshot.Nodes))
		for i := range room {
			room[i] = Unbounded
		}
		at = len(t.Headroom)
		t.Headroom = append(t.Headroom, Headroom{b.Amounts, room})
	}
	room := t.Headroom[at].ByNode
	room[b.Node] = min(room[b.Node], b.limit-b.used)
	if b.Amounts.Measure.ByUsage {
		t.addUsageHeadroom(b, limit)
	}
}

// RoomNeed is the amount that a pod needs of a counted resource, and the room of each node.
type RoomNeed struct {
	amount int64
	room   []int64 // by node
}

func usageKnown(a *cluster.Amounts, n cluster.NodeID) bool {
	_, _, known := a.NodeUsed(n)
	return known
}

// addUsageHeadroom records the nodes with known usage. For nodes that no goal is about, it also
// records how much more they can take.
func (t *Tracker) addUsageHeadroom(b *NodeMeasure, limit float64) {
	if t.KnownUsage[b.Amounts] == nil {
		known, room := make([]int64, len(t.Snapshot.Nodes)), make([]int64, len(t.Snapshot.Nodes))
		for i := range t.Snapshot.Nodes {
			room[i] = Unbounded
			if used, _, ok := b.Amounts.NodeUsed(cluster.NodeID(i)); ok {
				known[i] = Unbounded
				room[i] = int64(limit*float64(b.Amounts.Total(cluster.NodeID(i)))+Rounding) - used
			}
		}
		t.KnownUsage[b.Amounts], t.roomOutsideGoals[b.Amounts] = known, room
	}
	t.roomOutsideGoals[b.Amounts][b.Node] = Unbounded // Headroom limits this node
}

// RoomNeededOutsideGoals returns the room by load that a pod needs on nodes that no goal is about.
func (t *Tracker) RoomNeededOutsideGoals(pod cluster.PodID) []RoomNeed {
	var out []RoomNeed
	for amounts, room := range t.roomOutsideGoals {
		if amount := amounts.Contribution(pod, cluster.NoNode); amount > 0 {
			out = append(out, RoomNeed{amount, room})
		}
	}
	return out
}

// HasRoom reports whether the node has room for all needs.
func HasRoom(needs []RoomNeed, n cluster.NodeID) bool {
	return !slices.ContainsFunc(needs, func(x RoomNeed) bool { return x.amount > x.room[n] })
}
