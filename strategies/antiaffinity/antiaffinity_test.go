package antiaffinity_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/antiaffinity"
)

func TestGoals(t *testing.T) {
	golden.Pairs(t, "testdata/goals.txtar", func(t *testing.T, given []byte) string {
		return scenario.GoalsText(t, given, func(args []byte, scope cluster.Scope, s *cluster.Snapshot) []plan.Goal {
			a, errs := antiaffinity.New("apart", args, scope)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			return a.Goals(s)
		})
	})
}
