// Package goal measures how far each goal is from being met and follows moves of pods.
// For a pod it says which goals an eviction serves, and which nodes its replacement may
// land on without making a goal worse. It never decides which pod moves, and never
// predicts a placement.
package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
	"slices"
)

// Tracker holds the goals and how far each is from being met, and follows moves
// from the snapshot on.
type Tracker struct {
	Snapshot *cluster.Snapshot
	Goals    []plan.Goal
	Measures []Measure
	// InitialExcess is the excess of each goal in the snapshot, at least 1.
	InitialExcess []int64
	ByNode        [][]int32 // goals about a node
	byPod         [][]int32 // goals about a group that the pod is in
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
	t := &Tracker{Snapshot: s, Goals: goals, Measures: make([]Measure, len(goals)), InitialExcess: make([]int64, len(goals)),
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

func (t *Tracker) Excess(i int) int64 { return t.Measures[i].Excess() }

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
