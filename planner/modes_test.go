package planner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// TestGoalsFor checks which goals are requested, and which are constraints, for the moves of each mode.
func TestGoalsFor(t *testing.T) {
	all := []plan.Goal{{Strategy: "always"}, {Strategy: "automatic", Mode: plan.Automatic}, {Strategy: "approve", Mode: plan.Approve, Wait: plan.Reason{Code: "w"}},
		{Strategy: "later", Mode: plan.Approve, Constraint: true}, {Strategy: "shown", Mode: plan.ShowOnly}}
	for mode, want := range map[plan.StrategyMode][]string{
		plan.Automatic: {"always", "automatic", "approve: constraint", "later: constraint"},
		plan.Approve:   {"always: constraint", "automatic: constraint", "approve", "later: constraint"},
		plan.ShowOnly:  {"always: constraint", "automatic: constraint", "approve: constraint", "later: constraint", "shown"},
	} {
		goals := planner.GoalsFor(mode, all)
		if d := cmp.Diff(goals, planner.GoalsFor(mode, goals)); d != "" {
			t.Errorf("%s: a second call changes the goals (-first +second):\n%s", mode, d)
		}
		var got []string
		for _, g := range goals {
			if got = append(got, g.Strategy); g.Constraint {
				got[len(got)-1] += ": constraint"
				if g.Wait.Code != "" {
					t.Errorf("%s: the constraint of strategy %s waits for samples", mode, g.Strategy)
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("goals for mode %s (-want +got):\n%s", mode, d)
		}
	}
}
