package planner

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/planner/summary"
)

// Replan makes a second plan in a pass in which not every move succeeded as planned. done holds the
// moves that were executed, or may have been, since began. The limits of the pass count them. Pods
// that started after began stay. So the pass never evicts the replacements that it caused.
func (p *Planner) Replan(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, done []plan.Move, began, now time.Time) plan.Plan {
	later := *p
	if age := now.Sub(began) + time.Second; age > later.opts.Guards.MinPodAge { // pod timestamps have a resolution of one second
		later.opts.Guards.MinPodAge = age
	}
	c := search.NewSearch(&later.opts, s, st, goal.Number(s, goals), now)
	c.Limits.AddEarlierMoves(done)
	before, start := summary.DescribeState(c), c.Goals.Clone()
	c.Run()
	return summary.Summarize(c, before, start)
}
