// Package planner turns goals into a plan: the fewest evictions whose
// replacements are predicted to land where the goals are better served.
//
// It decides which pods move, in which order and in which waves, proves how
// few evictions could have done, and gives every refusal a reason. It never
// evicts, never asks an API server and never reads a clock: the same snapshot,
// state, goals, options and time give the same bytes.
package planner

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/planner/settings"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// Planner plans with fixed options.
type Planner struct{ opts settings.Options }

// New returns a planner.
func New(opts settings.Options) *Planner { return &Planner{opts} }

// Plan answers the goals. Cost: in each round of an attempt at most one landing prediction per
// pod whose leaving could serve a goal, and two per move.
func (p *Planner) Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan {
	c := search.NewSearch(&p.opts, s, st, p.withEffect(s, st, goals, now), now)
	before, start := summary.DescribeState(c), c.Goals.Clone()
	c.Run()
	return summary.Summarize(c, before, start)
}

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
