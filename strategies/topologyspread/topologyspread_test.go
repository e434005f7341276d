package topologyspread_test

import (
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/golden"
	"github.com/evenkeel-project/evenkeel/internal/scenario"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/topologyspread"
)

func TestGoals(t *testing.T) {
	golden.Pairs(t, "testdata/goals.txtar", func(t *testing.T, given []byte) string {
		return scenario.GoalsText(t, given, func(args []byte, scope cluster.Scope, s *cluster.Snapshot) []plan.Goal {
			st, errs := topologyspread.New("constraints", args, scope)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			return st.Goals(s)
		})
	})
}
