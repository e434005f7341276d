package planner

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// stillNeeded reports whether a pod must still make room for another pod. If not, stillNeeded returns the reason.
func stillNeeded(c *search.Problem, pl *plan.Plan, m plan.Move, q *cluster.Pod, l search.Landing) (plan.Reason, bool) {
	name := m.DisplacedFor.String()
	p := FindPod(c.Start.Snapshot, *m.DisplacedFor)
	if p == nil || m.DisplacedFor.UID != "" && string(p.Object.UID) != m.DisplacedFor.UID || p.Node == cluster.NoNode || p.ID == q.ID {
		return plan.Reason{Code: plan.PodGoneAlready, Message: fmt.Sprintf("%s, for which it was to make room, is gone", name)}, false
	}
	if !c.Start.MayDisplace(q.ID, p.ID) {
		return plan.Reason{Code: plan.NamespaceExcluded, Message: fmt.Sprintf(
			"%s, for which it was to make room, is in another namespace (guards.displaceAcrossNamespaces)", name)}, false
	}
	other := c.Start.MoveOf(p.ID, otherStrategy(c, pl, m, p))
	if r, no := refuseOtherHalf(c, m, q.ID, other); no {
		return plan.Reason{Code: r.Code, Message: fmt.Sprintf("%s, for which it was to make room, may not leave: %s", name, r.Message)}, false
	}
	if _, _, ok := c.Start.Predict(other); ok {
		return plan.Reason{Code: plan.NotNeeded, Message: fmt.Sprintf("there is room for %s without its leaving", name)}, false
	}
	made := search.Step{Move: search.Move{Pod: q.ID}, From: q.Node, Landing: l}
	c.Start.Apply(made)
	next, r, ok := c.Start.Predict(other)
	c.Start.Undo(made)
	if ok && !improvesGoalOf(c, other.Strategy, next) {
		return plan.Reason{Code: plan.NotNeeded, Message: fmt.Sprintf(
			"on the likeliest node, the replacement of %s improves no goal of its strategy", name)}, false
	}
	if !ok {
		return plan.Reason{Code: r.Code, Message: fmt.Sprintf("%s could not move to %s even then: %s", name, m.From, r.Message)}, false
	}
	return plan.Reason{}, true
}

// improvesGoalOf reports whether a landing improves a goal of the strategy. The result is also true if it improves only
// goals of strategies without rules of their own, and no strategy for which the moves are made has such rules.
func improvesGoalOf(c *search.Problem, strategy int, l search.Landing) bool {
	rules := c.Start.Options.HasRulesForMoves()
	for _, g := range l.ImprovedGoals {
		of := c.Start.Options.StrategyIndex(c.Start.Goals.Goals[g].Strategy)
		if of == strategy {
			return true
		}
		rules = rules || c.Start.Options.RulesOf(of) != nil
	}
	return !rules
}

// otherStrategy returns the strategy of the other move of a step, which is in a later wave.
func otherStrategy(c *search.Problem, pl *plan.Plan, m plan.Move, p *cluster.Pod) int {
	for _, o := range pl.Moves {
		if o.Step != m.Step && FindPod(c.Start.Snapshot, o.Pod) == p {
			return c.Start.Options.StrategyIndex(o.Strategy)
		}
	}
	return c.Start.Options.StrategyIndex(m.Strategy)
}

// refuseOtherHalf checks the rules for the other move of a step that do not depend on the landing. The result is true
// if a rule rejects that move.
func refuseOtherHalf(c *search.Problem, m plan.Move, q cluster.PodID, other search.Move) (plan.Reason, bool) {
	p := &c.Start.Snapshot.Pods[other.Pod]
	if r, no := c.Account.Eligibility.RefuseFor(other.Strategy, p.ID); no {
		return r, true
	}
	if !isReserved(c, m) {
		first := search.Move{Pod: q, Kind: search.MakeRoom, Strategy: c.Start.Options.StrategyIndex(m.Strategy)}
		c.Account.Charge(first)
		defer c.Account.Refund(first)
	}
	if why, fails := guard.JobFails(c.Start.Snapshot, p, c.Account.Limits.PlannedFor(p.Workload)); fails {
		return plan.Reason{Code: plan.JobWouldFail, Message: why}, true
	}
	return c.Account.Limits.RefuseAgain(other.Strategy, p.ID)
}
