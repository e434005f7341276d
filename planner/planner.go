// Package planner turns goals into a plan: the fewest evictions whose
// replacements are predicted to land where the goals are better served.
//
// It decides which pods move, in which order and in which waves, proves how
// few evictions could have done, and gives every refusal a reason. It never
// evicts, never asks an API server and never reads a clock: the same snapshot,
// state, goals, options and time give the same bytes.
package planner

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// validity is how long after its making a plan may be carried out.
const validity = 15 * time.Minute

// Planner plans with fixed options.
type Planner struct{ opts Options }

// New returns a planner.
func New(opts Options) *Planner { return &Planner{opts} }

// Plan answers the goals. Cost: in each round of an attempt at most one landing prediction per
// pod whose leaving could serve a goal, and two per move.
func (p *Planner) Plan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) plan.Plan {
	c := NewSearch(&p.opts, s, st, p.withEffect(s, st, goals, now), now)
	before, start := DescribeState(c), c.Goals.Clone()
	c.Run()
	return Summarize(c, before, start)
}
