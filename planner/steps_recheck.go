package planner

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// relanding foretells a landing anew: as the first of the wave and as things stand, if
// that is not the same. A pod that only makes room is asked for no good by itself, but
// the other half of its step must still be possible, and only with it.
func (c *search) relanding(start *scene, w *away, m plan.Move, p *cluster.Pod) (first, l landing, r plan.Reason, good bool) {
	land := (*scene).land
	if m.DisplacedFor != nil {
		land = (*scene).landAside
	}
	first, r, good = land(start, p.ID)
	l = first
	if good && w.total > 0 {
		l, r, good = land(c.scene, p.ID)
	}
	if good && m.DisplacedFor != nil {
		r, good = c.stillWanted(m, p, l)
	}
	return first, l, r, good
}

// stillWanted says why a pod need not, or need no longer, make room for another.
func (c *search) stillWanted(m plan.Move, q *cluster.Pod, l landing) (plan.Reason, bool) {
	name := m.DisplacedFor.String()
	p := find(c.s, *m.DisplacedFor)
	if p == nil || m.DisplacedFor.UID != "" && string(p.Object.UID) != m.DisplacedFor.UID || p.Node == cluster.NoNode || p.ID == q.ID {
		return plan.Reason{Code: plan.PodGoneAlready, Message: fmt.Sprintf("%s, for which it was to make room, is gone", name)}, false
	}
	if r, no := c.mayFollow(m, q.ID, p); no {
		return plan.Reason{Code: r.Code, Message: fmt.Sprintf("%s, for which it was to make room, may not leave: %s", name, r.Message)}, false
	}
	if _, _, ok := c.land(p.ID); ok {
		return plan.Reason{Code: plan.NotNeeded, Message: fmt.Sprintf("there is room for %s without its leaving", name)}, false
	}
	made := step{pod: q.ID, from: q.Node, landing: l}
	c.apply(made)
	_, r, ok := c.land(p.ID)
	c.undo(made)
	if !ok {
		return plan.Reason{Code: r.Code, Message: fmt.Sprintf("%s could not move to %s even then: %s", name, m.From, r.Message)}, false
	}
	return plan.Reason{}, true
}

// mayFollow asks about the other half of a step what does not depend on its landing.
func (c *search) mayFollow(m plan.Move, q cluster.PodID, p *cluster.Pod) (plan.Reason, bool) {
	if r, no := c.verdict.of(p.ID); no {
		return r, true
	}
	if !c.reserved(m) {
		c.limits.count(q)
		defer c.limits.uncount(q)
	}
	if why, fails := guard.JobFails(c.s, p, c.limits.planned.owner(p.Workload)); fails {
		return plan.Reason{Code: plan.JobWouldFail, Message: why}, true
	}
	return c.limits.refuseHourly(p.ID)
}

// places lists the nodes on which the replacement of a move may land.
func (c *scene) places(m plan.Move, pod cluster.PodID, l *landing) []cluster.NodeID {
	if m.DisplacedFor != nil {
		return c.acceptableAside(pod, l)
	}
	return c.acceptable(pod, l)
}

// wholeSteps drops the other half of a step of which one is dropped.
func wholeSteps(pl plan.Plan, dropped []plan.Outcome) []plan.Outcome {
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
