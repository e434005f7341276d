package quality

import (
	"maps"
	"slices"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

func (f measurement) totalUnmet() (all float64) {
	for _, h := range slices.Sorted(maps.Keys(f.unmetByReason)) {
		all += f.unmetByReason[h]
	}
	return all
}

// unmetGoalOf returns the reason that the plan gives for an unmet goal.
func unmetGoalOf(pl plan.Plan, g plan.Goal) plan.UnmetGoal {
	for _, h := range pl.Bound.UnmetGoals {
		if h.Goal == g.ID {
			return h
		}
	}
	return plan.UnmetGoal{}
}

// countWrongReasons counts the unmet goals whose stated reason a single eviction disproves. countWrongReasons
// tries each eviction after the plan with exhaustiveSearch. Pods that the plan has moved may move again.
func countWrongReasons(t *testing.T, p problem, pl plan.Plan) (n int) {
	g := newExhaustiveSearch(p)
	applyPlanChecked(t, p.seed, g, pl)
	clear(g.moved)
	helped := map[string]bool{}
	for i := range g.s.Pods {
		h, lands := g.predictedMove(cluster.PodID(i))
		if !lands {
			continue
		}
		before := g.goalExcesses()
		g.applyMove(h)
		for k, x := range g.goals {
			if x.excess() < before[k] {
				helped[x.goal.Subject.String()+x.goal.Resource] = true
			}
		}
		g.undoMove()
	}
	for _, goal := range pl.Goals {
		if unmetGoalOf(pl, goal).Goal != "" && helped[goal.Subject.String()+goal.Resource] {
			n++
		}
	}
	return n
}

// TestTheLastRoundLeavesNothing uses a problem with 290 moves. In this problem, the rounds of an attempt end
// before the planner retries a pod that it rejected early. A second plan must have no moves.
func TestTheLastRoundLeavesNothing(t *testing.T) {
	p := randomProblem(t, 83, 20, 200, 0)
	pl := p.plan()
	if next := p.afterPlan(t, pl).plan(); len(pl.Moves) < 200 || len(next.Moves) > 0 {
		t.Errorf("%d moves, and a second plan has %d moves, want none", len(pl.Moves), len(next.Moves))
	}
}

// TestNothingIsHeldThatAPodFromOutsideServes uses a group that is skewed over the zones in which its pods can run.
// One pod runs in a zone to which it could not return. Its replacement would fill the emptiest zone.
func TestNothingIsHeldThatAPodFromOutsideServes(t *testing.T) {
	p := randomProblem(t, 307, 5, 25, 120)
	o := p.options()
	o.MaxPredictions = 213 // a higher limit finds another plan without such a pod
	pl := planner.New(o).Plan(p.s, plan.PlannerState{}, p.goals(), p.s.TakenAt)
	if n := countWrongReasons(t, p, pl); n > 0 || pl.SearchLimitReached != "" {
		t.Errorf("%d unmet goals have a reason that a single eviction disproves; search limit reached: %q", n, pl.SearchLimitReached)
	}
}
