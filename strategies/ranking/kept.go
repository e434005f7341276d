package ranking

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Kept states the goal that no move of any strategy lands a pod on a node of a lower rank. Otherwise
// the strategy would move the pod back later.
type Kept struct {
	nodes   *Nodes
	ranks   *plan.NodeRanks    // nil: no node ranks lower than another
	classes map[classKey]int32 // the classes in ranks
	last    *Ranking
	class   int32 // of last
}

// classKey identifies the ranks of one class: its list of ranks, and the best rank of a node on which
// the pods can run.
type classKey struct {
	ranks *int64
	best  int64
}

// NewKept returns a Kept without pods.
func (n *Nodes) NewKept() *Kept { return &Kept{nodes: n, classes: map[classKey]int32{}} }

// Add makes the goal be about a pod in the class of the ranking. A nil ranking adds nothing.
func (k *Kept) Add(p *cluster.Pod, r *Ranking) {
	if r == nil {
		return
	}
	if r != k.last {
		k.last, k.class = r, k.classOf(r)
	}
	if k.class == plan.NoClass {
		return
	}
	k.ranks.ClassOf[p.ID] = k.class
}

// classOf returns the class of the pods of a ranking, or NoClass if the strategy moves them from no
// node.
func (k *Kept) classOf(r *Ranking) int32 {
	best, some := r.bestToRunOn()
	if !some {
		return plan.NoClass
	}
	id := classKey{&r.ranks[0], best}
	class, known := k.classes[id]
	if known {
		return class
	}
	class = plan.NoClass
	ranks := make([]int64, len(r.ranks))
	for i, rank := range r.ranks {
		if ranks[i] = plan.TopRank; rank < best && k.nodes.inScope[i] {
			ranks[i], class = rank, 0
		}
	}
	if class != plan.NoClass {
		class = k.add(ranks)
	}
	k.classes[id] = class
	return class
}

// add adds a class with these ranks.
func (k *Kept) add(ranks []int64) int32 {
	if k.ranks == nil {
		k.ranks = &plan.NodeRanks{ClassOf: slices.Repeat([]int32{plan.NoClass}, len(k.nodes.snapshot.Pods))}
	}
	k.ranks.OfClass = append(k.ranks.OfClass, ranks)
	return int32(len(k.ranks.OfClass) - 1)
}

// Goals returns the goal of the strategy about the pods that were added, or nothing if no node ranks
// lower than another.
func (k *Kept) Goals(strategy string) []plan.Goal {
	if k.ranks == nil {
		return nil
	}
	return []plan.Goal{{Strategy: strategy, Kind: plan.NoLowerRank, Weight: 1, Constraint: true, Ranks: k.ranks}}
}
