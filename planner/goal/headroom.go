package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"slices"
)

// Unbounded is the headroom of a node that no goal is about.
const Unbounded = int64(1) << 62

// Headroom is, for a way to count and by node, how much more may come there before a
// goal about the node is worse off.
type Headroom struct {
	Amounts *cluster.Amounts
	ByNode  []int64
}

// follow keeps it right when a pod moves.
func (h Headroom) follow(pod cluster.PodID, from, to cluster.NodeID) {
	if from != cluster.NoNode && h.ByNode[from] != Unbounded {
		h.ByNode[from] += h.Amounts.Contribution(pod, from)
	}
	if to != cluster.NoNode && h.ByNode[to] != Unbounded {
		h.ByNode[to] -= h.Amounts.Contribution(pod, to)
	}
}

// addHeadroom notes how much more the goal lets its node take; limit is that of the goal.
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

// RoomNeed is what the pod takes of a resource that goals are about.
type RoomNeed struct {
	amount int64
	room   []int64 // by node
}

func usageKnown(a *cluster.Amounts, n cluster.NodeID) bool {
	_, _, known := a.NodeUsed(n)
	return known
}

// addUsageHeadroom notes which nodes are known, and how much more may come to those that no
// goal is about.
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
	t.roomOutsideGoals[b.Amounts][b.Node] = Unbounded // its goal says so
}

// RoomNeededOutsideGoals is what a pod takes, by load, of nodes that no goal is about.
func (t *Tracker) RoomNeededOutsideGoals(pod cluster.PodID) []RoomNeed {
	var out []RoomNeed
	for amounts, room := range t.roomOutsideGoals {
		if amount := amounts.Contribution(pod, cluster.NoNode); amount > 0 {
			out = append(out, RoomNeed{amount, room})
		}
	}
	return out
}

// HasRoom reports whether a node has room for all of that.
func HasRoom(needs []RoomNeed, n cluster.NodeID) bool {
	return !slices.ContainsFunc(needs, func(x RoomNeed) bool { return x.amount > x.room[n] })
}
