package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Measure computes how far one goal is from being met, as an integer in the goal's own unit. It also says what an
// eviction and a landing do to the goal. Each kind of goal implements Measure in a file of its own; see kinds.
type Measure interface {
	// Excess returns the amount over the limit in milliCPU, bytes or millionths, the number of pods that must
	// move, or the number of conflicts. If the goal is met, Excess returns 0.
	Excess() int64
	// ExcessAfter returns the excess after the pod moves. Either node may be NoNode.
	ExcessAfter(pod cluster.PodID, from, to cluster.NodeID) int64
	// ExcessAfterLeaving returns the least excess after the pod leaves `from`, with the best
	// target. `from` may be NoNode.
	ExcessAfterLeaving(pod cluster.PodID, from cluster.NodeID) int64
	// CountsLanding reports whether a landing on n can improve the goal. A goal about a group of
	// pods improves only if the replacement lands in a domain that the goal counts. Elsewhere it is
	// lost to the group: the excess may fall, but no domain comes closer to the others.
	CountsLanding(n cluster.NodeID) bool
	Move(pod cluster.PodID, from, to cluster.NodeID)
	// Reported returns the excess in the unit of plan.Goal.
	Reported() float64
	// watch makes the Tracker ask goal i about the moves that can change its excess. It records what the goal requires
	// of all targets.
	watch(t *Tracker, i int32)
	// addEffects adds to the check what the eviction of the pod and each landing do to goal i.
	addEffects(a *TargetCheck, t *Tracker, i int32, pod cluster.PodID)
	// clone returns a copy that follows moves independently.
	clone() Measure
}

// kind describes the goals of one kind.
type kind struct {
	newMeasure func(c *measureCache, g *plan.Goal) Measure
	// order is the order of unmet goals of equal weight, lowest first.
	order int
	// group says that the goal is about a group of pods, and not about a node.
	group bool
	// stated says that goals of equal weight keep the order in which their strategy states them.
	stated bool
	// metByLeaving says that a pod contributes to the goal by leaving, although no replacement may follow.
	metByLeaving bool
}

// kinds has an entry for each kind that the planner can measure.
var kinds = map[plan.GoalKind]*kind{
	plan.PodAway:     {newMeasure: newPodAwayMeasure, order: podOrder, stated: true, metByLeaving: true},
	plan.SkewAtMost:  {newMeasure: newSkewMeasure, order: groupOrder, group: true},
	plan.CountAtMost: {newMeasure: newCountMeasure, order: groupOrder, group: true, metByLeaving: true},
	plan.PodsApart:   {newMeasure: newApartMeasure, order: groupOrder, group: true, metByLeaving: true},
	plan.NodeBelow:   {newMeasure: newNodeMeasure, order: nodeOrder},
	plan.NodeEmpty:   {newMeasure: newEmptyMeasure, order: nodeOrder, stated: true},
	plan.NoLowerRank: {newMeasure: newLowerRankMeasure, order: podOrder},
}

const (
	podOrder = iota // a goal about one pod leaves no choice, so others use its eviction
	groupOrder
	nodeOrder
)

// measureCache holds what the measures of a Tracker share.
type measureCache struct {
	snapshot *cluster.Snapshot
	domains  domainCache
	requests requestAmounts
	indexes  map[domainList][]int32
}

// newMeasure returns the measure of a goal of a kind in the snapshot. It panics on an unknown kind, which is nil.
func (c *measureCache) newMeasure(k *kind, g *plan.Goal) Measure {
	if k == nil {
		panic("planner: no measure for goal kind " + string(g.Kind))
	}
	return k.newMeasure(c, g)
}
