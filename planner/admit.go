package planner

import (
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// Admit asks the limits about a plan that was saved, and perhaps written by
// somebody else: it returns an outcome for each move beyond them. All other rules
// are asked by Recheck, wave by wave.
func (p *Planner) Admit(s *cluster.Snapshot, st plan.PlannerState, pl plan.Plan, now time.Time) []plan.Outcome {
	c := search.NewSearch(&p.opts, s, st, nil, now)
	var dropped []plan.Outcome
	for _, m := range pl.Moves {
		pod := FindPod(s, m.Pod)
		if pod == nil || pod.Node == cluster.NoNode {
			continue
		}
		if r, refused := c.Limits.Refuse(pod.ID); refused {
			dropped = append(dropped, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped, Reason: r})
			continue
		}
		c.Limits.Add(pod.ID)
	}
	return dropUnpaired(pl, dropped)
}
