package planner

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// predictAgain foretells a landing anew: as the first of the wave and as things stand, if
// that is not the same. A pod that only makes room is asked for no good by itself, but
// the other half of its step must still be possible, and only with it.
func predictAgain(c *search.Search, start *search.State, w *eligibility.InFlightCount, m plan.Move, p *cluster.Pod) (first, l search.Landing, r plan.Reason, good bool) {
	land := (*search.State).PredictLanding
	if m.DisplacedFor != nil {
		land = (*search.State).PredictDisplacedLanding
	}
	first, r, good = land(start, p.ID)
	l = first
	if good && w.Total > 0 {
		l, r, good = land(c.State, p.ID)
	}
	if good && m.DisplacedFor != nil {
		r, good = stillNeeded(c, m, p, l)
	}
	return first, l, r, good
}

// stillNeeded says why a pod need not, or need no longer, make room for another.
func stillNeeded(c *search.Search, m plan.Move, q *cluster.Pod, l search.Landing) (plan.Reason, bool) {
	name := m.DisplacedFor.String()
	p := FindPod(c.Snapshot, *m.DisplacedFor)
	if p == nil || m.DisplacedFor.UID != "" && string(p.Object.UID) != m.DisplacedFor.UID || p.Node == cluster.NoNode || p.ID == q.ID {
		return plan.Reason{Code: plan.PodGoneAlready, Message: fmt.Sprintf("%s, for which it was to make room, is gone", name)}, false
	}
	if r, no := otherHalfAllowed(c, m, q.ID, p); no {
		return plan.Reason{Code: r.Code, Message: fmt.Sprintf("%s, for which it was to make room, may not leave: %s", name, r.Message)}, false
	}
	if _, _, ok := c.PredictLanding(p.ID); ok {
		return plan.Reason{Code: plan.NotNeeded, Message: fmt.Sprintf("there is room for %s without its leaving", name)}, false
	}
	made := search.Step{Pod: q.ID, From: q.Node, Landing: l}
	c.Apply(made)
	_, r, ok := c.PredictLanding(p.ID)
	c.Undo(made)
	if !ok {
		return plan.Reason{Code: r.Code, Message: fmt.Sprintf("%s could not move to %s even then: %s", name, m.From, r.Message)}, false
	}
	return plan.Reason{}, true
}

// otherHalfAllowed asks about the other half of a step what does not depend on its landing.
func otherHalfAllowed(c *search.Search, m plan.Move, q cluster.PodID, p *cluster.Pod) (plan.Reason, bool) {
	if r, no := c.Eligibility.Refuse(p.ID); no {
		return r, true
	}
	if !reserved(c, m) {
		c.Limits.Add(q)
		defer c.Limits.Remove(q)
	}
	if why, fails := guard.JobFails(c.Snapshot, p, c.Limits.PlannedFor(p.Workload)); fails {
		return plan.Reason{Code: plan.JobWouldFail, Message: why}, true
	}
	return c.Limits.RefuseHourly(p.ID)
}

// dropUnpaired drops the other half of a step of which one is dropped.
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
			dropped = append(dropped, plan.Outcome{Step: out.Step, Pod: out.Pod, Outcome: plan.Dropped, Reason: plan.Reason{Code: plan.PremiseChanged,
				Message: fmt.Sprintf("%s, which it is of no use without, is not moved: %s", in.Pod, why)}})
		}
	}
	return dropped
}
