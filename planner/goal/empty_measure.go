package goal

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// emptyMeasure measures NodeEmpty. A node that keeps one pod is not empty, so partial progress is
// worth nothing: the excess stays the same until the last pod has left. While the search empties
// the node, the excess is the number of pods that are still on it.
type emptyMeasure struct {
	node cluster.NodeID
	pods int64 // pods that must leave, at the start
	// left is the number of these pods, and of replacements, that are on the node.
	left     int64
	emptying bool
}

func newEmptyMeasure(_ *measureCache, g *plan.Goal) Measure {
	n := int64(len(g.Pods))
	return &emptyMeasure{node: g.Node, pods: n, left: n}
}

func (m *emptyMeasure) Excess() int64 {
	if m.left == 0 || m.emptying {
		return m.left
	}
	return m.pods
}

func (m *emptyMeasure) ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64 {
	after := *m
	after.Move(pod, from, to)
	return after.Excess()
}

func (m *emptyMeasure) ExcessAfterLeaving(pod cluster.PodID, from cluster.NodeID) int64 {
	return m.ExcessAfter(pod, from, cluster.NoNode)
}

func (m *emptyMeasure) CountsLanding(cluster.NodeID) bool { return true }

func (m *emptyMeasure) Move(_ cluster.PodID, from, to cluster.NodeID) {
	if from == m.node {
		m.left--
	}
	if to == m.node {
		m.left++
	}
}

// Reported returns the number of pods that had to leave at the start, or 0 if the node is empty.
func (m *emptyMeasure) Reported() float64 {
	if m.left == 0 {
		return 0
	}
	return float64(m.pods)
}

func (m *emptyMeasure) clone() Measure {
	c := *m
	return &c
}

func (m *emptyMeasure) watch(t *Tracker, i int32) {
	t.ByNode[m.node] = append(t.ByNode[m.node], i)
	t.toEmpty = append(t.toEmpty, i)
	updateClosed(t, m.node)
}

// addEffects adds the effect of leaving the node. Tracker.closed limits landings on it.
func (m *emptyMeasure) addEffects(a *TargetCheck, t *Tracker, i int32, pod cluster.PodID) {
	if t.Asks(int(i), pod) && m.ExcessAfter(pod, a.From, cluster.NoNode) < m.Excess() {
		a.leavingImproves = true
	}
}

// Emptying is the part of a Tracker that is about the goals of the kind NodeEmpty.
type Emptying struct{ *Tracker }

// Unmet returns the unmet requested goals: by higher weight, and then in the order in which their
// strategies state them.
func (t Emptying) Unmet() (out []int) {
	for _, i := range t.toEmpty {
		if !t.Goals[i].Constraint && t.Excess(int(i)) > 0 {
			out = append(out, int(i))
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(t.Goals[b].Weight, t.Goals[a].Weight) })
	return out
}

// PodsLeft returns the number of pods that must leave the node of goal g and of replacements on it.
func (t Emptying) PodsLeft(g int) int { return int(t.Measures[g].(*emptyMeasure).left) }

// Start makes the Tracker ask for moves that empty the nodes of these goals. Until Stop, no replacement may land on the
// nodes in closed.
func (t Emptying) Start(goals []int, closed []cluster.NodeID) {
	for _, g := range goals {
		t.Measures[g].(*emptyMeasure).emptying = true
	}
	if t.closed == nil {
		openNodes(t.Tracker)
	}
	for _, n := range closed {
		t.closed[n] = 0
	}
	t.askAnew()
}

// NotTargets returns the nodes on which no replacement of a NodeEmpty may land.
func NotTargets(g *plan.Goal) (out []cluster.NodeID) {
	for n, is := range g.Targets {
		if !is {
			out = append(out, cluster.NodeID(n))
		}
	}
	return out
}

// Stop ends Start. Nodes that are empty now stay closed.
func (t Emptying) Stop() {
	t.askAnew()
	openNodes(t.Tracker)
	for _, i := range t.toEmpty {
		m := t.Measures[i].(*emptyMeasure)
		m.emptying = false
		updateClosed(t.Tracker, m.node)
	}
}

// openNodes makes closed contain no node.
func openNodes(t *Tracker) {
	t.closed = slices.Repeat([]int64{Unbounded}, len(t.Snapshot.Nodes))
}

// updateClosed closes the node if the plan has emptied it, and opens it if a pod is back.
func updateClosed(t *Tracker, n cluster.NodeID) {
	if t.closed == nil {
		openNodes(t)
	}
	for _, i := range t.ByNode[n] {
		switch m, ok := t.Measures[i].(*emptyMeasure); {
		case !ok || m.emptying:
		case m.left == 0:
			t.closed[n] = 0
		default:
			t.closed[n] = Unbounded
		}
	}
}

// Requests reports whether the search may move pods for goal i now. Pods leave for a NodeEmpty only
// while the search empties its node.
func Requests(t *Tracker, i int) bool {
	if t.Goals[i].Constraint {
		return false
	}
	m, ok := t.Measures[i].(*emptyMeasure)
	return !ok || m.emptying
}
