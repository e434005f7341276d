package lowerbound

import (
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// Of proves how few evictions could meet the requested goals, counting only
// pods that may leave and could run elsewhere, and how much excess none of them can
// remove; and how few could leave no more excess than the plan does. start are the
// goals before it.
//
// Hot nodes: a pod leaves one node only, so the needs of nodes add up. Groups:
// a pod can serve several, so only disjoint groups add up. One eviction may serve a
// node and a group at once: package cover adds up the two.
func Of(c *search.Search, start *goal.Tracker) plan.Bound {
	all, some := podsOfUnmetGoals(c, start)
	p := &proof{c, start, newReachability(c, start), newDemand(all), newDemand(some), 0, map[string]float64{}}
	p.nodes()
	p.groups()
	b := plan.Bound{
		MinEvictions: p.full.lowerBound(p.full.sums[0] + p.full.sums[1]), MinForPlan: p.planned.lowerBound(len(c.Moves)),
		Residual: plan.Round(p.residual), ResidualByGoal: p.byGoal, BlockedBy: p.blockers(),
	}
	b.Unmet, b.UnmetGoals = p.unmetGoals()
	return b
}

// podsOfUnmetGoals counts the pods that goals with excess are about, and of these those of
// goals that the plan brings nearer.
func podsOfUnmetGoals(c *search.Search, start *goal.Tracker) (all, some int) {
	for g, goal := range start.Goals {
		if was := start.Excess(g); was > 0 && !goal.Constraint {
			n := len(c.PodsOf(g))
			all += n
			if c.Goals.Excess(g) < was {
				some += n
			}
		}
	}
	return all, some
}
