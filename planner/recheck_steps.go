package planner

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// stillNeeded reports whether a pod must still make room for another pod. If not, stillNeeded returns the reason.
func (r *recheck) stillNeeded(m plan.Move, q *cluster.Pod, l search.Landing) (plan.Reason, bool) {
	name := m.DisplacedFor.String()
	p := FindPod(r.sim.Snapshot, *m.DisplacedFor)
	if p == nil || m.DisplacedFor.UID != "" && string(p.Object.UID) != m.DisplacedFor.UID || p.Node == cluster.NoNode || p.ID == q.ID {
		return plan.Reason{Code: plan.PodGoneAlready, Message: fmt.Sprintf("%s, for which it was to make room, is gone", name)}, false
	}
	if !r.sim.MayDisplace(q.ID, p.ID) {
		return plan.Reason{Code: plan.NamespaceExcluded, Message: fmt.Sprintf(
			"%s, for which it was to make room, is in another namespace (guards.displaceAcrossNamespaces)", name)}, false
	}
	other := r.sim.MoveOf(p.ID, r.otherStrategy(m, p))
	if no, refused := r.refuseOtherHalf(m, q.ID, other); refused {
		return plan.Reason{Code: no.Code, Message: fmt.Sprintf("%s, for which it was to make room, may not leave: %s", name, no.Message)}, false
	}
	if _, _, ok := r.sim.Predict(other); ok {
		return plan.Reason{Code: plan.NotNeeded, Message: fmt.Sprintf("there is room for %s without its leaving", name)}, false
	}
	made := search.Step{Move: search.Move{Pod: q.ID}, From: q.Node, Landing: l}
	r.sim.Apply(made)
	next, no, ok := r.sim.Predict(other)
	r.sim.Undo(made)
	if ok && !r.improvesGoalOf(other.Strategy, next) {
		return plan.Reason{Code: plan.NotNeeded, Message: fmt.Sprintf(
			"on the likeliest node, the replacement of %s improves no goal of its strategy", name)}, false
	}
	if !ok {
		return plan.Reason{Code: no.Code, Message: fmt.Sprintf("%s could not move to %s even then: %s", name, m.From, no.Message)}, false
	}
	return plan.Reason{}, true
}

// improvesGoalOf reports whether a landing improves a goal of the strategy. The result is also true if it improves only
// goals of strategies without rules of their own, and no strategy for which the moves are made has such rules.
func (r *recheck) improvesGoalOf(strategy int, l search.Landing) bool {
	rules := r.sim.Options.HasRulesForMoves()
	for _, g := range l.ImprovedGoals {
		of := r.sim.Options.StrategyIndex(r.sim.Goals.Goals[g].Strategy)
		if of == strategy {
			return true
		}
		rules = rules || r.sim.Options.RulesOf(of) != nil
	}
	return !rules
}

// otherStrategy returns the strategy of the other move of a step, which is in a later wave.
func (r *recheck) otherStrategy(m plan.Move, p *cluster.Pod) int {
	for _, o := range r.plan.Moves {
		if o.Step != m.Step && FindPod(r.sim.Snapshot, o.Pod) == p {
			return r.sim.Options.StrategyIndex(o.Strategy)
		}
	}
	return r.sim.Options.StrategyIndex(m.Strategy)
}

// refuseOtherHalf checks the rules for the other move of a step that do not depend on the landing, after the move m of
// pod q. The result is true if a rule rejects that move.
func (r *recheck) refuseOtherHalf(m plan.Move, q cluster.PodID, other search.Move) (plan.Reason, bool) {
	p, of := &r.sim.Snapshot.Pods[other.Pod], r.sim.Snapshot.Pods[q].Workload
	evicted := r.account.Limits.PlannedFor(p.Workload)
	if of == p.Workload {
		evicted++
	}
	if !r.isReserved(m) {
		first := search.Move{Pod: q, Kind: search.MakeRoom, Strategy: r.sim.Options.StrategyIndex(m.Strategy)}
		r.account.Charge(first)
		defer r.account.Refund(first)
	}
	return r.account.RefuseAgain(other, evicted, false)
}
