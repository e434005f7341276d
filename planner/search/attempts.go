package search

import (
	"cmp"
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search/rejections"
)

type attemptResult struct {
	moves      []WaveStep
	hinted     [][]cluster.NodeID
	rejections *rejections.Set
	excess     []int64 // by goal
	// excessLeft sums the weighted remaining shares of the initial excess over all requested goals. firstExcessLeft
	// sums only the goals in Goals.First.
	excessLeft, firstExcessLeft float64
	byNamespace                 map[string]namespaceResult // without goals about nodes
	// cutOff says that a limit that namespaces share refused a pod.
	cutOff bool
}

// namespaceResult is the part of excessLeft of the goals of a namespace, and the evictions in the namespace in this
// pass and in the last hour.
type namespaceResult struct {
	excessLeft float64
	evictions  int
}

func (c *waves) currentResult() attemptResult {
	o := attemptResult{c.moves, c.hinted, c.account.Rejections.Clone(), make([]int64, len(c.sim.Goals.Goals)), 0, 0,
		map[string]namespaceResult{}, c.account.Rejections.BySharedLimit()}
	for g := range o.excess {
		o.excess[g] = c.sim.Goals.Excess(g)
		if of := &c.sim.Goals.Goals[g]; !of.Constraint {
			share := float64(of.Weight * float64(o.excess[g]) / float64(c.sim.Goals.InitialExcess[g]))
			o.excessLeft += share
			if c.sim.Goals.First[g] {
				o.firstExcessLeft += share
			}
			if ns := of.Subject.Namespace; ns != "" {
				o.byNamespace[ns] = namespaceResult{o.byNamespace[ns].excessLeft + share, c.account.Limits.InNamespace(ns)}
			}
		}
	}
	return o
}

// better reports whether o leaves less excess than the other result. better compares firstExcessLeft, then
// excessLeft, then the number of moves. A result that is unfair to a namespace is better only by firstExcessLeft.
func (o attemptResult) better(than attemptResult) bool {
	if a, b := plan.Round(o.firstExcessLeft), plan.Round(than.firstExcessLeft); a != b {
		return a < b
	}
	a, b := plan.Round(o.excessLeft), plan.Round(than.excessLeft)
	return (a < b || a == b && len(o.moves) < len(than.moves)) && !o.unfair(than)
}

// unfair reports whether limits that namespaces share cut off goals in o, and a namespace leaves more excess than in
// the other result, while a namespace with more evictions leaves less.
func (o attemptResult) unfair(than attemptResult) bool {
	if !o.cutOff {
		return false
	}
	fewest, most := math.MaxInt, 0 // evictions of a namespace that is worse off, and of one that is better off
	for ns, x := range o.byNamespace {
		switch cmp.Compare(plan.Round(x.excessLeft), plan.Round(than.byNamespace[ns].excessLeft)) {
		case 1:
			fewest = min(fewest, x.evictions)
		case -1:
			most = max(most, x.evictions)
		}
	}
	return fewest < most
}

// worseThan reports whether the current state leaves more excess of a requested goal than o.
func (c *waves) worseThan(o attemptResult) bool {
	for g, was := range o.excess {
		if !c.sim.Goals.Goals[g].Constraint && c.sim.Goals.Excess(g) > was {
			return true
		}
	}
	return false
}

// A second attempt costs as much as the first. repeatPredictions limits the predictions of all attempts together,
// multiplied by the number of nodes. At 200 nodes, repeatPredictions allows 20,000 predictions, so clusters of up to
// a few hundred nodes get several attempts.
const (
	maxAttempts       = 6
	repeatPredictions = 4_000_000
	maxFailedAttempts = 2
	maxGreedyStarts   = 8
)

// predictionsForRepeat returns the number of predictions that a plan may reach with a further
// attempt. If the limits allow no more moves for unmet goals, the result is 0, and the next pass
// continues with these goals.
func (c *search) predictionsForRepeat() int {
	if !c.account.allowsMore() {
		return 0
	}
	most := repeatPredictions / max(1, len(c.sim.Snapshot.Nodes))
	if effort := c.sim.Options.MaxPredictions; effort > 0 {
		most = min(most, effort)
	}
	return most
}
