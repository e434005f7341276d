package lowerbound

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// Compute computes two lower bounds on evictions: one for meeting the requested goals as far as possible, and one for
// reaching the plan's excess. Compute also returns the excess that no permitted eviction can remove. Only pods that
// may be evicted and can run on another node count.
//
// Each pod that a goal is about alone needs an eviction, and so does each pod of a node that the
// plan empties; see addPodNeeds and addEmptyNeeds. The other needs are what remains without these
// pods. A pod leaves only one node, so the needs of nodes add up. A pod can belong to several
// groups, so only the needs of disjoint groups add up. CountBound and WeightedBound combine both
// kinds of needs.
func Compute(c *search.Result) plan.Bound {
	start := c.Problem.Start.Goals
	all, some := podsOfUnmetGoals(c, start)
	p := &proof{c, start, newReachability(c, start), newEvictionNeed(c.Snapshot, all), newEvictionNeed(c.Snapshot, some), 0, make(map[cluster.PodID]search.Move, len(c.Moves)),
		map[string]float64{}, nil, make([]answer, len(c.Snapshot.Pods))}
	for _, m := range c.Moves {
		p.made[m.Pod] = m.Move
	}
	p.addPodNeeds()
	addEmptyNeeds(p)
	p.addNodeNeeds()
	p.addGroupNeeds() // a search that was cut short has no time for a bound; needs that are left out lower it
	b := plan.Bound{
		MinEvictions: p.full.lowerBound(p.full.required.count + p.full.sums[0] + p.full.sums[1]), MinForPlan: p.planned.lowerBound(len(c.Moves)),
		Residual: plan.Round(p.residual), ResidualByGoal: p.byGoal, BlockedBy: p.blockers(),
	}
	if some > 0 { // the plan lowers the excess of a goal, which takes at least one eviction
		b.MinEvictions, b.MinForPlan = max(b.MinEvictions, 1), max(b.MinForPlan, 1)
	}
	b.Unmet, b.UnmetGoals = p.unmetGoals()
	return b
}

// podsOfUnmetGoals counts the pods of all unmet requested goals, and the pods of goals whose excess the plan lowers.
// Goals about single pods and about empty nodes do not count: their pods are required, so they are in no other need.
func podsOfUnmetGoals(c *search.Result, start *goal.Tracker) (all, some int) {
	for g, goal := range start.Goals {
		if was := start.Excess(g); was > 0 && !goal.Constraint && goal.Kind != plan.PodAway && goal.Kind != plan.NodeEmpty {
			n := len(c.Problem.PodsOf(g))
			all += n
			if c.End.Goals.Excess(g) < was {
				some += n
			}
		}
	}
	return all, some
}
