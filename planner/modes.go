package planner

import (
	"cmp"

	"github.com/evenkeel-project/evenkeel/plan"
)

// GoalsFor returns the goals for planning or executing the moves of the strategies in one mode:
//   - Goals of strategies in this mode stay as they are.
//   - Other goals of automatic and approve strategies become constraints.
//   - Other goals of dryRun strategies are left out, so they constrain no move that is executed.
//
// The goals are not changed, and calling GoalsFor twice with the same mode gives the same goals.
func GoalsFor(mode plan.StrategyMode, goals []plan.Goal) []plan.Goal {
	out := make([]plan.Goal, 0, len(goals))
	for _, g := range goals {
		switch of := cmp.Or(g.Mode, plan.Automatic); {
		case of == mode:
		case of == plan.ShowOnly:
			continue
		default:
			g.Constraint, g.WaitReason = true, "" // a constraint does not wait for anything
		}
		out = append(out, g)
	}
	return out
}
