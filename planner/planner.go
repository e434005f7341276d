// Package planner turns goals into a plan: the fewest evictions whose predicted replacements serve
// the goals better.
//
// It decides which pods move, in which order and in which waves. It computes a lower bound on
// evictions and gives a reason for every rejection. It never evicts pods, calls an API server or
// reads a clock. The same snapshot, state, goals, options and time give the same bytes.
package planner

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/planner/settings"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// Planner makes plans with fixed options.
type Planner struct{ opts settings.Options }

// New returns a planner with these options.
func New(opts settings.Options) *Planner { return &Planner{opts} }

// Plan makes a plan for the goals at the time now. Each round of an attempt predicts at most one
// landing per pod that could serve a goal, and two per move.
func (p *Planner) Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan {
	c := search.NewSearch(&p.opts, s, st, goal.Number(s, goals), now)
	before, start := summary.DescribeState(c), c.Goals.Clone()
	c.Run()
	return summary.Summarize(c, before, start)
}
