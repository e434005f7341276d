package planner

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// CheckLimits checks a saved plan, which a person may have edited, against the limits. CheckLimits returns an
// outcome for each move that exceeds a limit, of the pass or of the move's strategy, or that a
// person discarded. All other rules are checked by Recheck, wave by wave.
func (p *Planner) CheckLimits(s *cluster.Snapshot, st plan.PlannerState, pl plan.Plan, now time.Time) []plan.Outcome {
	c := search.NewProblem(&p.opts, s, st, nil, now)
	var dropped []plan.Outcome
	for _, m := range pl.Moves {
		pod := FindPod(s, m.Pod)
		if pod == nil || pod.Node == cluster.NoNode {
			continue
		}
		strategy := p.opts.StrategyIndex(m.Strategy)
		r, refused := c.Account.Eligibility.BarredFor(strategy, pod.ID)
		if refused = refused && r.Code == plan.Discarded; !refused { // else the move counts against no limit
			r, refused = c.Account.Limits.Refuse(pod.ID)
		}
		if !refused {
			r, refused = c.Account.Limits.RefuseFor(strategy, pod.ID)
		}
		if refused {
			dropped = append(dropped, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: plan.Dropped, Reason: r})
			continue
		}
		c.Account.Charge(search.Move{Pod: pod.ID, Strategy: strategy})
	}
	return dropUnpaired(pl, dropPartlyEmptied(s, pl, dropped))
}

// If one move of a displacement step is dropped, dropUnpaired also drops the other move.
func dropUnpaired(pl plan.Plan, dropped []plan.Outcome) []plan.Outcome {
	gone := map[int]plan.Code{}
	for _, o := range dropped {
		gone[o.Step] = o.Reason.Code
	}
	for _, q := range pl.Moves {
		if q.DisplacedFor == nil {
			continue
		}
		for _, p := range pl.Moves {
			if p.Pod.UID != q.DisplacedFor.UID {
				continue
			}
			out, in, why := q, p, gone[p.Step]
			if why == "" {
				out, in, why = p, q, gone[q.Step]
			}
			if _, known := gone[out.Step]; why == "" || known {
				continue
			}
			gone[out.Step] = plan.PremiseChanged
			dropped = append(dropped, plan.Outcome{Step: out.Step, Pod: out.Pod, Outcome: plan.Dropped,
				Reason: plan.Reason{Code: plan.PremiseChanged,
					Message: fmt.Sprintf("its move only helps if %s also moves, and that pod is not moved: %s", in.Pod, why)}})
		}
	}
	return dropped
}
