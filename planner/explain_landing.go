package planner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
)

// landing asks where the replacement would go, whatever keeps the pod.
func (e *Explainer) landing(p *cluster.Pod) plan.Landing {
	c := e.start
	l := plan.Landing{Nodes: []plan.TargetNode{}}
	pr := c.world.Predict(p.ID)
	if pr.UnsupportedReason != "" {
		l.UnknownReason = pr.UnsupportedReason
		l.Verdict = plan.Reason{Code: plan.PlacementUnknown, Message: pr.UnsupportedReason}
		return l
	}
	got, reason, ok := c.place(p.ID)
	if !ok {
		l.Verdict = reason
	}
	acceptable := c.acceptable(p.ID, &got)
	if got.steered { // the rest is what holds with the hints
		hint([]*scene{c.scene}, got.hinted)
		defer hint([]*scene{c.scene}, nil)
		pr = c.world.Predict(p.ID)
		h := c.waveHints(0, got.hinted)
		l.Steer, l.HintedNodes = h.Kind, h.Nodes
	}
	l.Confidence, l.ReturnProbability, l.PendingProbability = got.pGood, got.pReturn, got.pPending
	why := c.whys(p, pr)
	for i := range c.s.Nodes {
		n := cluster.NodeID(i)
		l.Nodes = append(l.Nodes, plan.TargetNode{
			Name: c.s.Nodes[i].Name, Zone: c.limits.zone[n], Acceptable: slices.Contains(acceptable, n), WorsenedGoal: c.worsened(p, n),
			Probability: plan.Round(pr.Prob(func(x cluster.NodeID) bool { return x == n })), Detail: why[n],
		})
	}
	slices.SortStableFunc(l.Nodes, func(a, b plan.TargetNode) int { return cmp.Compare(b.Probability, a.Probability) })
	return l
}

// worsened is a goal that would be further from being met with the replacement
// on n; nil when there is none.
func (c *search) worsened(p *cluster.Pod, n cluster.NodeID) *plan.GoalStatus {
	if n == p.Node {
		return nil
	}
	var out *plan.GoalStatus
	t := c.goals
	t.each(p.ID, p.Node, n, func(g int) bool {
		if t.at[g].with(p.ID, p.Node, n) <= t.at[g].excess() {
			return true
		}
		goal := t.list[g]
		goal.Excess = t.reported(g)
		t.move(p.ID, p.Node, n)
		out = &plan.GoalStatus{Goal: goal, Constraint: goal.Constraint, ExcessAfter: t.reported(g)}
		t.move(p.ID, n, p.Node)
		return false
	})
	return out
}

// whys says of each node what refuses the replacement, or how it scores against
// the best, while the victim still terminates and once it is gone. Where only
// one of the two states can happen, or both say the same, it is said once.
func (c *search) whys(p *cluster.Pod, pr prediction.Prediction) []string {
	verdicts := c.world.Explain(p.ID)
	n := len(c.s.Nodes)
	out := make([]string, n)
	say := func(v placement.NodeVerdict, s prediction.State) string {
		switch {
		case v.RefusedBy != "":
			return v.Why
		case s.SampleSize > 0: // the best of one sample need not be the best of all
			return fmt.Sprintf("scores %d beside all %d that fit, of which the scheduler judges %d at a time", v.Total, len(s.Feasible), s.SampleSize)
		case v.Total == s.Best:
			return fmt.Sprintf("scores %d, the best", v.Total)
		}
		return fmt.Sprintf("scores %d, the best %d", v.Total, s.Best)
	}
	for i := range n {
		during, gone := say(verdicts[i], pr.Terminating), say(verdicts[n+i], pr.Gone)
		switch {
		case pr.WeightGone == 1 || during == gone:
			out[i] = gone
		default:
			out[i] = during + "; once the pod is gone: " + gone
		}
	}
	return out
}
