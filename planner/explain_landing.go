package planner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// explainLanding predicts where the pod's replacement lands, even if a rule prevents the eviction.
func explainLanding(c *search.Result, p *cluster.Pod) plan.Landing {
	l := plan.Landing{Nodes: []plan.TargetNode{}}
	pr := c.End.Model.Predict(p.ID)
	if pr.UnsupportedReason != "" {
		l.UnknownReason = pr.UnsupportedReason
		l.Verdict = plan.Reason{Code: plan.PlacementUnknown, Message: pr.UnsupportedReason}
		return l
	}
	move := c.End.MoveOf(p.ID, limits.NoStrategy)
	got, reason, ok := c.End.PredictWithHints(move)
	if !ok {
		l.Verdict = reason
	}
	acceptable := c.End.AcceptableNodes(move, &got).Clone()
	if !ok && search.NeedsNoPlace(c.End, p.ID) {
		l.Rule, l.Verdict = plan.LandingNotRequired, plan.Reason{}
	}
	if got.Steered { // compute the remaining fields with the hints
		search.SetHints([]*search.Simulation{c.End}, got.Hinted)
		defer search.SetHints([]*search.Simulation{c.End}, nil)
		pr = c.End.Model.Predict(p.ID)
		h := c.End.WaveHints(0, got.Hinted)
		l.Steer, l.HintedNodes = h.Kind, h.Nodes
	}
	l.Confidence, l.ReturnProbability, l.PendingProbability = got.Confidence, got.ReturnProbability, got.PendingProbability
	why := nodeDetails(c, p, pr)
	for i := range c.Snapshot.Nodes {
		n := cluster.NodeID(i)
		l.Nodes = append(l.Nodes, plan.TargetNode{
			Name: c.Snapshot.Nodes[i].Name, Zone: c.Account.Limits.Zones[n], Acceptable: acceptable.Has(n), WorsenedGoal: worsenedGoal(c, p, n),
			Probability: plan.Round(pr.Prob(func(x cluster.NodeID) bool { return x == n })), Detail: why[n],
		})
	}
	slices.SortStableFunc(l.Nodes, func(a, b plan.TargetNode) int { return cmp.Compare(b.Probability, a.Probability) })
	return l
}

// worsenedGoal returns a goal that has more excess with the replacement on n, or nil.
func worsenedGoal(c *search.Result, p *cluster.Pod, n cluster.NodeID) *plan.GoalStatus {
	if n == p.Node {
		return nil
	}
	var out *plan.GoalStatus
	t := c.End.Goals
	t.EachAffected(p.ID, p.Node, n, func(g int) bool {
		if t.Measures[g].ExcessAfter(p.ID, p.Node, n) <= t.Measures[g].Excess() {
			return true
		}
		goal := t.Goals[g]
		if goal.Kind == plan.NoLowerRank { // it is about many pods
			goal.Subject = plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: p.Object.Namespace, Name: p.Object.Name}
		}
		goal.Excess = t.ReportedExcess(g)
		t.Move(p.ID, p.Node, n)
		out = &plan.GoalStatus{Goal: goal, Constraint: goal.Constraint, ExcessAfter: t.ReportedExcess(g)}
		t.Move(p.ID, n, p.Node)
		return false
	})
	return out
}

// nodeDetails explains, by node, why the node rejects the replacement or how its score compares. nodeDetails covers
// two states: the victim still terminates, and the victim is gone. If only one state is possible or both give the
// same text, the text appears once.
func nodeDetails(c *search.Result, p *cluster.Pod, pr prediction.Prediction) []string {
	nodeVerdicts := c.End.Model.Explain(p.ID)
	n := len(c.Snapshot.Nodes)
	out := make([]string, n)
	say := func(v placement.NodeVerdict, s prediction.State) string {
		switch {
		case v.RefusedBy != "":
			return v.Why
		case s.SampleSize > 0: // the best of a sample can differ from the best of all
			return fmt.Sprintf("scores %d beside all %d that fit, of which the scheduler judges %d at a time", v.Total,
				len(s.Feasible), s.SampleSize)
		case v.Total == s.Best:
			return fmt.Sprintf("scores %d, the best", v.Total)
		}
		return fmt.Sprintf("scores %d, the best %d", v.Total, s.Best)
	}
	for i := range n {
		during, gone := say(nodeVerdicts[i], pr.Terminating), say(nodeVerdicts[n+i], pr.Gone)
		switch {
		case pr.WeightGone == 1 || during == gone:
			out[i] = gone
		default:
			out[i] = during + "; once the pod is gone: " + gone
		}
		if _, words, refused := c.End.Targets.Why(p, &c.Snapshot.Nodes[i]); refused && nodeVerdicts[n+i].RefusedBy == "" {
			out[i] += "; not sent there: it is " + words
		}
		if strategy := c.End.Goals.LimitOutside(p.ID, cluster.NodeID(i)); strategy != "" && cluster.NodeID(i) != p.Node {
			out[i] += "; the node is excluded or out of scope, and would be above the target of strategy " + strategy
		}
	}
	return out
}
