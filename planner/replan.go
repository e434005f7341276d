package planner

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// Replan plans for what a pass has left, since not all came as planned: done are
// the moves that were carried out, or may have been, since began. They count against the
// limits of the pass as if both plans were one. What came up since then stays: no
// replacement is moved on by the pass that made it.
func (p *Planner) Replan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, done []plan.Move, began, now time.Time) plan.Plan {
	later := *p
	if age := now.Sub(began) + time.Second; age > later.opts.Guards.MinPodAge { // times of pods are whole seconds
		later.opts.Guards.MinPodAge = age
	}
	c := search.NewSearch(&later.opts, s, st, later.withEffect(s, st, goals, now), now)
	c.Limits.AddEarlierMoves(done)
	before, start := summary.DescribeState(c), c.Goals.Clone()
	c.Run()
	return summary.Summarize(c, before, start)
}
