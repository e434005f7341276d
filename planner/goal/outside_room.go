package goal

import (
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// outsideRoom holds the room of each node below the limit of the strategy's goals about other nodes, for one amount.
type outsideRoom struct {
	strategy string
	// limit is the least limit of these goals. Goals without Amounts of several strategies count the same amount.
	limit  float64
	byNode []int64
	// everyMove is byNode for moves of every strategy: it bounds the nodes that are excluded or out of scope. It is nil
	// if it bounds no node.
	everyMove []int64
}

// BindOutside lets the limits bind moves of every strategy to the nodes that are excluded or out of scope.
func (t *Tracker) BindOutside(outside []bool) {
	t.outside = outside
	for amounts, x := range t.roomOutsideGoals {
		room, binds := slices.Clone(x.byNode), false
		for n := range room {
			if !outside[n] {
				room[n] = Unbounded
			}
			binds = binds || room[n] != Unbounded
		}
		if binds {
			x.everyMove = room
			t.roomOutsideGoals[amounts] = x
		}
	}
}

// addRoomOutsideGoals records the remaining room of nodes that the goal's strategy is not about,
// such as excluded nodes. For goals by load, addRoomOutsideGoals also records the nodes with known
// usage.
func (t *Tracker) addRoomOutsideGoals(b *NodeMeasure, g *plan.Goal) {
	if x, has := t.roomOutsideGoals[b.Amounts]; has && x.limit <= g.Limit {
		return
	}
	known, room := make([]int64, len(t.Snapshot.Nodes)), make([]int64, len(t.Snapshot.Nodes))
	for i := range t.Snapshot.Nodes {
		room[i] = Unbounded
		if used, _, ok := b.Amounts.NodeUsed(cluster.NodeID(i)); ok {
			known[i] = Unbounded
			room[i] = int64(g.Limit*float64(b.Amounts.Total(cluster.NodeID(i)))+Rounding) - used
		}
	}
	if t.roomOutsideGoals[b.Amounts] = (outsideRoom{g.Strategy, g.Limit, room, nil}); b.Amounts.Measure.ByUsage {
		t.KnownUsage[b.Amounts] = known
	}
}

// removeNodesWithGoals gives Unbounded to the nodes with a goal that counts the same, of any strategy: Headroom limits
// these nodes. A strategy that limits every node decides nothing about the nodes that the others leave out.
func removeNodesWithGoals(t *Tracker) {
	for i := range t.Goals {
		b, is := t.Measures[i].(*NodeMeasure)
		if !is || t.Goals[i].EveryNode {
			continue
		}
		for amounts, x := range t.roomOutsideGoals {
			if amounts == b.Amounts || countsSame(amounts.Measure, b.Amounts.Measure) {
				x.byNode[b.Node] = Unbounded
			}
		}
	}
	maps.DeleteFunc(t.roomOutsideGoals, func(a *cluster.Amounts, x outsideRoom) bool {
		return !a.Measure.ByUsage && !slices.ContainsFunc(x.byNode, func(r int64) bool { return r != Unbounded })
	})
}

func countsSame(a, b cluster.Measure) bool {
	return a.ByUsage == b.ByUsage && a.Resource == b.Resource && selectorString(a) == selectorString(b)
}

func selectorString(m cluster.Measure) string {
	if m.Pods == nil {
		return ""
	}
	return m.Pods.String()
}

// RoomNeededOutsideGoals returns the room that a pod needs on nodes without a goal, if it moves for the strategy: below
// the limits of this strategy, and of those without a nodeSelector of their own.
func (t *Tracker) RoomNeededOutsideGoals(pod cluster.PodID, strategy string) []RoomNeed {
	var out []RoomNeed
	for amounts, x := range t.roomOutsideGoals {
		if x.strategy != strategy && t.SelectsNodes != nil && t.SelectsNodes(x.strategy) {
			continue
		}
		if amount := amounts.Contribution(pod, cluster.NoNode); amount > 0 {
			out = append(out, RoomNeed{amount: amount, room: x.byNode})
		}
	}
	return out
}

// roomNeededOutsideAll returns the room that a pod needs on nodes that are excluded or out of scope, whatever it moves
// for: such a node takes no load above the limit of the others, also by moves for goals about groups or single pods.
func (t *Tracker) roomNeededOutsideAll(pod cluster.PodID) (out []RoomNeed) {
	for amounts, x := range t.roomOutsideGoals {
		if amount := amounts.Contribution(pod, cluster.NoNode); amount > 0 && x.everyMove != nil && (t.SelectsNodes == nil || !t.SelectsNodes(x.strategy)) {
			out = append(out, RoomNeed{amount: amount, room: x.everyMove})
		}
	}
	return out
}

// LimitOutside returns the strategy whose target a pod would exceed on a node that is excluded or out of scope, or "".
// The first name wins.
func (t *Tracker) LimitOutside(pod cluster.PodID, n cluster.NodeID) (strategy string) {
	for amounts, x := range t.roomOutsideGoals {
		if x.everyMove != nil && (t.SelectsNodes == nil || !t.SelectsNodes(x.strategy)) && amounts.Contribution(pod, cluster.NoNode) > x.everyMove[n] &&
			(strategy == "" || x.strategy < strategy) {
			strategy = x.strategy
		}
	}
	return strategy
}

// RoomNeed holds the amount of a counted resource that a pod needs, and the room on each node.
type RoomNeed struct {
	amount int64
	room   []int64   // by node
	fixed  bool      // no pod that leaves changes the room
	of     *Headroom // whose room it is, or nil
}

// HasRoom reports whether the node has room for all needs.
func HasRoom(needs []RoomNeed, n cluster.NodeID) bool {
	return !slices.ContainsFunc(needs, func(x RoomNeed) bool { return x.amount > x.room[n] })
}

// limitedAmount is an amount whose goal the eviction improves, if this goal also limits nodes without a goal.
type limitedAmount struct {
	amounts  *cluster.Amounts
	strategy string
	needs    []RoomNeed // on nodes without a goal, for moves for the strategy
}

// allows reports whether the improvement counts on node n: its usage is known, and it has room.
func (x *limitedAmount) allows(n cluster.NodeID) bool {
	return usageKnown(x.amounts, n) && HasRoom(x.needs, n)
}

// addLimitedNeeds fills the needs of the limited amounts. It reports whether they are the same for all of them.
func addLimitedNeeds(t *Tracker, limited []limitedAmount, pod cluster.PodID) (same bool) {
	same = true
	for k := range limited {
		x := &limited[k]
		if first := &limited[0]; k > 0 && (t.SelectsNodes == nil || x.strategy == first.strategy) {
			x.needs = first.needs
			continue
		}
		x.needs, same = t.RoomNeededOutsideGoals(pod, x.strategy), k == 0
	}
	return same
}
