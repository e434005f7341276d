package planner

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// withEffect numbers the goals, those of strategies that are held as constraints.
func (p *Planner) withEffect(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) []plan.Goal {
	goals = slices.Clone(goals)
	for i := range goals {
		if _, held := history.Held(st, goals[i].Strategy, now, p.opts.Benefit); held {
			goals[i].Constraint, goals[i].WaitReason = true, ""
		}
	}
	return goal.Number(s, goals)
}
