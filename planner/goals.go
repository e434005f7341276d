package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Number sorts goals into a stable order, fills in their excess and gives those
// with excess the names g1, g2, ...
func Number(s *cluster.Snapshot, goals []plan.Goal) []plan.Goal {
	goals = sortedByKey(goals)
	t := NewTracker(s, goals)
	n := 0
	for i := range goals {
		goals[i].Excess = t.ReportedExcess(i)
		if goals[i].Excess > 0 && !goals[i].Constraint {
			n++
			goals[i].ID = fmt.Sprintf("g%d", n)
		}
	}
	return goals
}

// sortedByKey sorts goals by their keys, each made once.
func sortedByKey(goals []plan.Goal) []plan.Goal {
	type keyed struct {
		key string
		at  int
	}
	order := make([]keyed, len(goals))
	for i := range goals {
		order[i] = keyed{Key(goals[i]), i}
	}
	slices.SortFunc(order, func(a, b keyed) int { return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	out := make([]plan.Goal, len(goals))
	for i, x := range order {
		out[i] = goals[x.at]
	}
	return out
}

// Key identifies a goal across snapshots.
func Key(g plan.Goal) string {
	return strings.Join([]string{g.Strategy, string(g.Kind), g.Subject.String(), g.Resource, g.TopologyKey}, "\x00")
}

// Tracker holds the goals and how far each is from being met, and follows moves
// from the snapshot on.
type Tracker struct {
	snapshot    *cluster.Snapshot
	Goals []plan.Goal
	Measures   []Measure
	// InitialExcess is the excess of each goal in the snapshot, at least 1.
	InitialExcess []int64
	ByNode  [][]int32 // goals about a node
	byPod   [][]int32 // goals about a group that the pod is in
	// Headroom is, for each way to count and by node, how much more may come there
	// before a goal about the node is worse off.
	Headroom []Headroom
	// KnownUsage is, for what is counted by load and by node, unbounded where it is known
	// how much is used, and else 0.
	KnownUsage map[*cluster.Amounts][]int64
	// roomOutsideGoals is, for what is counted by load and by node, how much more may come to
	// a node that no goal is about before it is above the limit of the others.
	roomOutsideGoals map[*cluster.Amounts][]int64
	// UnderPressure are the nodes under pressure; nil: nobody asks.
	UnderPressure []bool
	// First are, by goal, those that are served before all others; see servedFirst.
	First []bool
	// Annotations is what people ask for nodes.
	Annotations *annotation.Cache
}

// Measure is one goal's distance, in integers of its own unit.
type Measure interface {
	// excess is 0 when the goal is met; else what is too much, in bytes,
	// milliCPU or pods that have to move.
	Excess() int64
	// with is the excess after moving the pod; either node may be NoNode.
	ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64
	Move(pod cluster.PodID, from, to cluster.NodeID)
	// reported is the excess in the unit of plan.Goal.
	Reported() float64
	// clone is a measure that follows other moves from here on.
	clone() Measure
}

func NewTracker(s *cluster.Snapshot, goals []plan.Goal) *Tracker {
	t := &Tracker{snapshot: s, Goals: goals, Measures: make([]Measure, len(goals)), InitialExcess: make([]int64, len(goals)),
		ByNode: make([][]int32, len(s.Nodes)), byPod: make([][]int32, len(s.Pods)), KnownUsage: map[*cluster.Amounts][]int64{}, roomOutsideGoals: map[*cluster.Amounts][]int64{}, Annotations: annotation.NewCache()}
	domains, requests := domainCache{}, requestAmounts{}
	for i, g := range goals {
		switch g.Kind {
		case plan.SkewAtMost:
			t.Measures[i] = newSkewMeasure(s, g, domains.of(s, g.TopologyKey))
			for _, p := range g.Pods {
				t.byPod[p] = append(t.byPod[p], int32(i))
			}
		case plan.NodeBelow:
			t.Measures[i] = newNodeMeasure(g, requests.of(s, g))
			t.ByNode[g.Node] = append(t.ByNode[g.Node], int32(i))
			t.addHeadroom(t.Measures[i].(*NodeMeasure), g.Limit)
		default:
			panic("planner: no measure for goal kind " + string(g.Kind))
		}
		t.InitialExcess[i] = max(1, t.Measures[i].Excess())
	}
	return t
}

// Clone is a tracker that follows other moves from here on.
func (t *Tracker) Clone() *Tracker {
	c := *t
	c.Headroom = slices.Clone(t.Headroom)
	for i := range c.Headroom {
		c.Headroom[i].ByNode = slices.Clone(c.Headroom[i].ByNode)
	}
	c.roomOutsideGoals = cloneRooms(t.roomOutsideGoals)
	c.Measures = make([]Measure, len(t.Measures))
	for i, m := range t.Measures {
		c.Measures[i] = m.clone()
	}
	return &c
}

func cloneRooms(rooms map[*cluster.Amounts][]int64) map[*cluster.Amounts][]int64 {
	out := make(map[*cluster.Amounts][]int64, len(rooms))
	for a, room := range rooms {
		out[a] = slices.Clone(room)
	}
	return out
}

func (t *Tracker) Excess(i int) int64     { return t.Measures[i].Excess() }
func (t *Tracker) ReportedExcess(i int) float64 { return t.Measures[i].Reported() }

func (t *Tracker) Move(pod cluster.PodID, from, to cluster.NodeID) {
	t.EachAffected(pod, from, to, func(i int) bool { t.Measures[i].Move(pod, from, to); return true })
	for i := range t.Headroom {
		t.Headroom[i].follow(pod, from, to)
	}
	for amounts, room := range t.roomOutsideGoals {
		Headroom{amounts, room}.follow(pod, from, to)
	}
}

// EachAffected calls f for every goal that a move can touch, until f says false.
func (t *Tracker) EachAffected(pod cluster.PodID, from, to cluster.NodeID, f func(i int) bool) bool {
	for _, n := range [...]cluster.NodeID{from, to} {
		if n == cluster.NoNode || n == to && from == to {
			continue
		}
		for _, i := range t.ByNode[n] {
			if !f(int(i)) {
				return false
			}
		}
	}
	for _, i := range t.byPod[pod] {
		if !f(int(i)) {
			return false
		}
	}
	return true
}

// Served lists the requested goals that moving the pod improves.
func (t *Tracker) Served(pod cluster.PodID, from, to cluster.NodeID) []int {
	var out []int
	t.EachAffected(pod, from, to, func(i int) bool {
		if !t.Goals[i].Constraint && t.Measures[i].ExcessAfter(pod, from, to) < t.Measures[i].Excess() && t.usageKnownAt(i, pod, to) {
			out = append(out, i)
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// ByNeed lists the requested goals with excess: heavier first, then those that more
// attempts left unmet, then those with more to do relative to what is allowed, then in
// goal order.
func (t *Tracker) ByNeed(stuck []int) []int {
	type needy struct {
		goal, drained, stuck, kind int
		weight, excess             float64
	}
	var all []needy
	for i := range t.Goals {
		if g := &t.Goals[i]; !g.Constraint && t.Excess(i) > 0 {
			all = append(all, needy{i, t.drainOrder(i), stuck[i], kindOrder(g.Kind), g.Weight, t.ReportedExcess(i)})
		}
	}
	slices.SortFunc(all, func(a, b needy) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.drained, b.drained), cmp.Compare(b.stuck, a.stuck), cmp.Compare(a.kind, b.kind), cmp.Compare(b.excess, a.excess), cmp.Compare(a.goal, b.goal))
	})
	out := make([]int, len(all))
	for i := range all {
		out[i] = all[i].goal
	}
	return out
}

// drainOrder puts goals of nodes that are to be drained first, or are under pressure,
// before others.
func (t *Tracker) drainOrder(i int) int {
	if g := &t.Goals[i]; g.Kind == plan.NodeBelow && (t.UnderPressure != nil && t.UnderPressure[g.Node] || t.Annotations.OfNode(t.snapshot, g.Node).DrainFirst) {
		return 0
	}
	return 1
}

// kindOrder puts spread before load: a spread move leaves a choice of node in
// the target domain, which load balancing then finds taken into account.
func kindOrder(k plan.GoalKind) int {
	if k == plan.SkewAtMost {
		return 0
	}
	return 1
}
