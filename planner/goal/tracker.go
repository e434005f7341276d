// Package goal measures how far each goal is from being met and follows moves of pods. For each pod, package goal
// says which goals an eviction improves, and on which nodes the replacement makes no goal worse. Package goal never
// decides which pod moves, and never predicts a placement.
package goal

import (
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Tracker holds the goals and the excess of each goal. Tracker starts with the snapshot and follows moves.
type Tracker struct {
	Snapshot *cluster.Snapshot
	Goals    []plan.Goal
	Measures []Measure
	// InitialExcess is the excess of each goal in the snapshot, at least 1.
	InitialExcess []int64
	ByNode        [][]int32 // by node: the indices of the goals about it
	byPod         [][]int32 // by pod: the indices of the group goals that contain it
	// Headroom holds one entry for each resource and basis. Each entry has, by node, the amount that the node can
	// take before a goal about it becomes worse.
	Headroom []Headroom
	// KnownUsage holds, for each amount counted by load, a value per node: Unbounded if the node's usage is known,
	// and 0 otherwise.
	KnownUsage map[*cluster.Amounts][]int64
	// roomOutsideGoals holds, for each amount, the room of each node below the limit of the goals about other nodes.
	// Amounts by requests are missing if every node has a goal of its own; see removeNodesWithGoals.
	roomOutsideGoals map[*cluster.Amounts]outsideRoom
	outside          []bool // by node: excluded or out of scope; nil if BindOutside was not called
	// UnderPressure marks, by node, the nodes under pressure. The slice is nil if pressure hints are not used.
	UnderPressure []bool
	// Barred reports whether the strategy of the goal may not move the pod. Nil means that every
	// strategy may move every pod.
	Barred func(goal int, pod cluster.PodID) bool
	// SelectsNodes reports whether the strategy has a nodeSelector of its own. Its goals limit
	// other nodes only for moves that serve it. Nil means that no strategy has one.
	SelectsNodes func(strategy string) bool
	// First marks, by goal, the goals that the planner handles before all others; see FirstGoals.
	First []bool
	// toEmpty lists the goals of the kind NodeEmpty. closed holds, by node, 0 if no replacement may
	// land on it because of such a goal, and otherwise Unbounded; it is nil without such goals.
	toEmpty []int32
	closed  []int64
	// ranking lists the goals of the kind NoLowerRank. Each is about most pods, so byPod does not contain them.
	ranking []int32
	lowest  map[int]int32 // caches the results of lowestPriority
	// Annotations caches the parsed annotations of nodes and pods.
	Annotations *annotation.Cache
	// moved counts the moves, and the times when the goals began to ask for other pods; askedAt is the last of
	// these. leaving caches, by pod, what its leaving is worth until one of its goals changes. changedAt has the last
	// change of each goal.
	moved, askedAt int
	changedAt      []int
	leaving        []leaving
	kinds          []*kind // by goal
	sets           *nodeSets
}

// leaving is what the eviction of a pod from a node could improve, after a number of changes of the goals.
type leaving struct {
	moved        int // plus one; 0: not known
	from         cluster.NodeID
	benefit      float64
	nodeAndGroup bool
}

// NewTracker returns a Tracker for these goals with the excess in the snapshot. NewTracker panics on an unknown goal
// kind.
func NewTracker(s *cluster.Snapshot, goals []plan.Goal) *Tracker {
	return newTracker(s, goals, func(*plan.Goal) bool { return true })
}

// newTracker is NewTracker with the restriction that goals for which counts is false neither ask for moves nor limit
// them. Their excess does not follow moves.
func newTracker(s *cluster.Snapshot, goals []plan.Goal, counts func(*plan.Goal) bool) *Tracker {
	t := &Tracker{Snapshot: s, Goals: goals, kinds: make([]*kind, len(goals)), Measures: make([]Measure, len(goals)), InitialExcess: make([]int64, len(goals)),
		ByNode: make([][]int32, len(s.Nodes)), byPod: make([][]int32,
			len(s.Pods)), KnownUsage: map[*cluster.Amounts][]int64{}, roomOutsideGoals: map[*cluster.Amounts]outsideRoom{}, lowest: map[int]int32{}, Annotations: annotation.NewCache(),
		sets: &nodeSets{ready: map[*bool][]uint64{}, domains: map[*int32][][]uint64{}}}
	cache := &measureCache{s, domainCache{}, requestAmounts{}, map[domainList][]int32{}}
	for i := range goals {
		t.kinds[i] = kinds[goals[i].Kind]
		t.Measures[i] = cache.newMeasure(t.kinds[i], &goals[i])
		if counts(&goals[i]) {
			t.Measures[i].watch(t, int32(i))
		}
		t.InitialExcess[i] = max(1, t.Measures[i].Excess())
	}
	removeNodesWithGoals(t)
	return t
}

// Clone returns a copy that follows moves independently.
func (t *Tracker) Clone() *Tracker {
	c := *t
	c.leaving, c.changedAt = nil, nil
	c.Headroom = slices.Clone(t.Headroom)
	for i := range c.Headroom {
		c.Headroom[i] = Headroom{Amounts: c.Headroom[i].Amounts, ByNode: slices.Clone(c.Headroom[i].ByNode)}
	}
	c.closed = slices.Clone(t.closed)
	c.roomOutsideGoals = maps.Clone(t.roomOutsideGoals)
	for amounts, x := range c.roomOutsideGoals {
		c.roomOutsideGoals[amounts] = outsideRoom{x.strategy, x.limit, slices.Clone(x.byNode), slices.Clone(x.everyMove)}
	}
	c.Measures = make([]Measure, len(t.Measures))
	for i, m := range t.Measures {
		c.Measures[i] = m.clone()
	}
	return &c
}

// Asks reports whether a move of the pod may serve goal i: the goal is requested, the pod may leave for it, and its
// strategy may move the pod. For other moves, the goal is a constraint.
func (t *Tracker) Asks(i int, pod cluster.PodID) bool {
	return Requests(t, i) && (t.Barred == nil || !t.Barred(i, pod)) && !staysFor(&t.Goals[i], pod)
}

func staysFor(g *plan.Goal, pod cluster.PodID) bool {
	if len(g.Staying) == 0 {
		return false
	}
	_, stays := slices.BinarySearch(g.Staying, pod)
	return stays
}

// Excess returns the excess of goal i in the integer unit of its Measure.
func (t *Tracker) Excess(i int) int64 { return t.Measures[i].Excess() }

// ReportedExcess returns the excess of goal i in the unit of plan.Goal.
func (t *Tracker) ReportedExcess(i int) float64 { return t.Measures[i].Reported() }

// Move records that the pod moves. Either node may be NoNode.
func (t *Tracker) Move(pod cluster.PodID, from, to cluster.NodeID) {
	t.moved++
	t.EachAffected(pod, from, to, func(i int) bool {
		if t.Measures[i].Move(pod, from, to); t.changedAt != nil {
			t.changedAt[i] = t.moved
		}
		return true
	})
	if t.Snapshot.Pods[pod].Terminal {
		return // it uses nothing
	}
	for i := range t.Headroom {
		t.Headroom[i].applyMove(pod, from, to)
	}
	for amounts, x := range t.roomOutsideGoals {
		(&Headroom{Amounts: amounts, ByNode: x.byNode}).applyMove(pod, from, to)
		if x.everyMove != nil {
			(&Headroom{Amounts: amounts, ByNode: x.everyMove}).applyMove(pod, from, to)
		}
	}
	if t.closed == nil {
		return
	}
	for _, n := range [...]cluster.NodeID{from, to} {
		if n != cluster.NoNode {
			updateClosed(t, n)
		}
	}
}

// EachAffected calls f for every goal that the move can change, until f returns false. EachAffected reports whether f
// always returned true.
func (t *Tracker) EachAffected(pod cluster.PodID, from, to cluster.NodeID, f func(i int) bool) bool {
	if t.Snapshot.Pods[pod].Terminal {
		from, to = cluster.NoNode, cluster.NoNode // nodes do not count it
	}
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
	for _, i := range t.ranking {
		if t.Goals[i].Ranks.ClassOf[pod] != plan.NoClass && !f(int(i)) {
			return false
		}
	}
	return true
}

// watchPods makes the Tracker ask goal i about moves of its pods.
func (t *Tracker) watchPods(i int32) {
	for _, p := range t.Goals[i].Pods {
		t.byPod[p] = append(t.byPod[p], i)
	}
}

// addHeadroom records the amount that the goal still allows on its node.
func (t *Tracker) addHeadroom(b *NodeMeasure, g *plan.Goal) {
	at := slices.IndexFunc(t.Headroom, func(h Headroom) bool { return h.Amounts == b.Amounts })
	if at < 0 {
		room := make([]int64, len(t.Snapshot.Nodes))
		for i := range room {
			room[i] = Unbounded
		}
		at = len(t.Headroom)
		t.Headroom = append(t.Headroom, Headroom{Amounts: b.Amounts, ByNode: room})
	}
	room := t.Headroom[at].ByNode
	room[b.Node] = min(room[b.Node], b.limit-b.used)
	t.addRoomOutsideGoals(b, g)
}

// Unbounded is the headroom of a node that no goal is about.
const Unbounded = int64(1) << 62

// Headroom holds the amount that each node can take before a goal about that node becomes worse, for one way to
// count.
type Headroom struct {
	Amounts *cluster.Amounts
	ByNode  []int64
	sets    map[int64]*roomSet // by amount
	changed []cluster.NodeID   // the nodes whose room has changed since there are sets
}

func (h *Headroom) applyMove(pod cluster.PodID, from, to cluster.NodeID) {
	if from != cluster.NoNode && h.ByNode[from] != Unbounded {
		h.ByNode[from] += h.Amounts.Contribution(pod, from)
	}
	if to != cluster.NoNode && h.ByNode[to] != Unbounded {
		h.ByNode[to] -= h.Amounts.Contribution(pod, to)
	}
	h.recordChanges(from, to)
}

func usageKnown(a *cluster.Amounts, n cluster.NodeID) bool {
	_, _, known := a.NodeUsed(n)
	return known
}
