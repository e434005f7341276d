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

// number sorts goals into a stable order, fills in their excess and gives those
// with excess the names g1, g2, ...
func number(s *cluster.Snapshot, goals []plan.Goal) []plan.Goal {
	goals = byKey(goals)
	t := newTracker(s, goals)
	n := 0
	for i := range goals {
		goals[i].Excess = t.reported(i)
		if goals[i].Excess > 0 && !goals[i].Constraint {
			n++
			goals[i].ID = fmt.Sprintf("g%d", n)
		}
	}
	return goals
}

// byKey sorts goals by their keys, each made once.
func byKey(goals []plan.Goal) []plan.Goal {
	type keyed struct {
		key string
		at  int
	}
	order := make([]keyed, len(goals))
	for i := range goals {
		order[i] = keyed{key(goals[i]), i}
	}
	slices.SortFunc(order, func(a, b keyed) int { return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	out := make([]plan.Goal, len(goals))
	for i, x := range order {
		out[i] = goals[x.at]
	}
	return out
}

// key identifies a goal across snapshots.
func key(g plan.Goal) string {
	return strings.Join([]string{g.Strategy, string(g.Kind), g.Subject.String(), g.Resource, g.TopologyKey}, "\x00")
}

// tracker holds the goals and how far each is from being met, and follows moves
// from the snapshot on.
type tracker struct {
	s    *cluster.Snapshot
	list []plan.Goal
	at   []measure
	// initial is the excess of each goal in the snapshot, at least 1.
	initial []int64
	byNode  [][]int32 // goals about a node
	byPod   [][]int32 // goals about a group that the pod is in
	// headroom is, for each way to count and by node, how much more may come there
	// before a goal about the node is worse off.
	headroom []headroom
	// known is, for what is counted by load and by node, unbounded where it is known
	// how much is used, and else 0.
	known map[*cluster.Amounts][]int64
	// elsewhere is, for what is counted by load and by node, how much more may come to
	// a node that no goal is about before it is above the limit of the others.
	elsewhere map[*cluster.Amounts][]int64
	// pressed are the nodes under pressure; nil: nobody asks.
	pressed []bool
	// first are, by goal, those that are served before all others; see servedFirst.
	first []bool
	// asked is what people ask for nodes.
	asked *annotation.Cache
}

// measure is one goal's distance, in integers of its own unit.
type measure interface {
	// excess is 0 when the goal is met; else what is too much, in bytes,
	// milliCPU or pods that have to move.
	excess() int64
	// with is the excess after moving the pod; either node may be NoNode.
	with(pod cluster.PodID, from, to cluster.NodeID) int64
	move(pod cluster.PodID, from, to cluster.NodeID)
	// reported is the excess in the unit of plan.Goal.
	reported() float64
	// clone is a measure that follows other moves from here on.
	clone() measure
}

func newTracker(s *cluster.Snapshot, goals []plan.Goal) *tracker {
	t := &tracker{s: s, list: goals, at: make([]measure, len(goals)), initial: make([]int64, len(goals)),
		byNode: make([][]int32, len(s.Nodes)), byPod: make([][]int32, len(s.Pods)), known: map[*cluster.Amounts][]int64{}, elsewhere: map[*cluster.Amounts][]int64{}, asked: annotation.NewCache()}
	domains, requests := domainIndex{}, requested{}
	for i, g := range goals {
		switch g.Kind {
		case plan.SkewAtMost:
			t.at[i] = newSkew(s, g, domains.of(s, g.TopologyKey))
			for _, p := range g.Pods {
				t.byPod[p] = append(t.byPod[p], int32(i))
			}
		case plan.NodeBelow:
			t.at[i] = newBelow(g, requests.of(s, g))
			t.byNode[g.Node] = append(t.byNode[g.Node], int32(i))
			t.bound(t.at[i].(*below), g.Limit)
		default:
			panic("planner: no measure for goal kind " + string(g.Kind))
		}
		t.initial[i] = max(1, t.at[i].excess())
	}
	return t
}

// clone is a tracker that follows other moves from here on.
func (t *tracker) clone() *tracker {
	c := *t
	c.headroom = slices.Clone(t.headroom)
	for i := range c.headroom {
		c.headroom[i].room = slices.Clone(c.headroom[i].room)
	}
	c.elsewhere = cloned(t.elsewhere)
	c.at = make([]measure, len(t.at))
	for i, m := range t.at {
		c.at[i] = m.clone()
	}
	return &c
}

func cloned(rooms map[*cluster.Amounts][]int64) map[*cluster.Amounts][]int64 {
	out := make(map[*cluster.Amounts][]int64, len(rooms))
	for a, room := range rooms {
		out[a] = slices.Clone(room)
	}
	return out
}

func (t *tracker) excess(i int) int64     { return t.at[i].excess() }
func (t *tracker) reported(i int) float64 { return t.at[i].reported() }

func (t *tracker) move(pod cluster.PodID, from, to cluster.NodeID) {
	t.each(pod, from, to, func(i int) bool { t.at[i].move(pod, from, to); return true })
	for i := range t.headroom {
		t.headroom[i].follow(pod, from, to)
	}
	for amounts, room := range t.elsewhere {
		headroom{amounts, room}.follow(pod, from, to)
	}
}

// each calls f for every goal that a move can touch, until f says false.
func (t *tracker) each(pod cluster.PodID, from, to cluster.NodeID, f func(i int) bool) bool {
	for _, n := range [...]cluster.NodeID{from, to} {
		if n == cluster.NoNode || n == to && from == to {
			continue
		}
		for _, i := range t.byNode[n] {
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

// served lists the requested goals that moving the pod improves.
func (t *tracker) served(pod cluster.PodID, from, to cluster.NodeID) []int {
	var out []int
	t.each(pod, from, to, func(i int) bool {
		if !t.list[i].Constraint && t.at[i].with(pod, from, to) < t.at[i].excess() && t.vouched(i, pod, to) {
			out = append(out, i)
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// byNeed lists the requested goals with excess: heavier first, then those that more
// attempts left unmet, then those with more to do relative to what is allowed, then in
// goal order.
func (t *tracker) byNeed(stuck []int) []int {
	type needy struct {
		goal, drained, stuck, kind int
		weight, excess             float64
	}
	var all []needy
	for i := range t.list {
		if g := &t.list[i]; !g.Constraint && t.excess(i) > 0 {
			all = append(all, needy{i, t.drained(i), stuck[i], kindOrder(g.Kind), g.Weight, t.reported(i)})
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

// drained puts goals of nodes that are to be drained first, or are under pressure,
// before others.
func (t *tracker) drained(i int) int {
	if g := &t.list[i]; g.Kind == plan.NodeBelow && (t.pressed != nil && t.pressed[g.Node] || t.asked.OfNode(t.s, g.Node).DrainFirst) {
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
