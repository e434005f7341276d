package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// strategies returns, for each strategy with rules of its own, whether they allow a move of the
// pod. The result is nil if no strategy has such rules. A soft strategy is listed too.
func (e *Explainer) strategies(p *cluster.Pod) (out []plan.StrategyResult) {
	for i, info := range e.automatic.start.Options.Strategies {
		if info.Own == nil && !info.Soft {
			continue
		}
		reason, barred := e.automatic.start.Account.Eligibility.BarredFor(i, p.ID)
		of := e.searchFor(info.Mode)
		x := plan.StrategyResult{Strategy: info.Name, Allows: !barred, Reason: reason, Soft: info.Soft}
		if start := of.start.Account.Limits.OfStrategy(i); start != nil {
			_, moved := of.moves[p.ID]
			x.Limits = slices.DeleteFunc(compareLimits(p, start, of.done.Account.Limits.OfStrategy(i), moved, of.mode), func(r plan.RuleResult) bool {
				return r.Allows && !r.UsedUp // most limits of a strategy are not set
			})
		}
		out = append(out, x)
	}
	return out
}

// limitsOnly reports whether a strategy that is due states the goal only to limit moves. A strategy is due if it
// requests a goal: of a strategy that is not due, every goal is a constraint.
func (e *Explainer) limitsOnly(g *plan.Goal) bool {
	return g.Constraint && g.Wait.Code == "" && slices.ContainsFunc(e.stated.Goals, func(other plan.Goal) bool {
		return other.Strategy == g.Strategy && !other.Constraint
	})
}

// searchFor returns the search for moves of strategies in this mode, or the automatic one if there is no proposal.
func (e *Explainer) searchFor(mode plan.StrategyMode) explainedMode {
	for _, of := range e.proposals {
		if of.mode == mode {
			return of
		}
	}
	return e.automatic
}

// judge returns the search for which the limits and the landing of a pod are judged: the one that
// moves the pod, or else the automatic one if an automatic goal needs the eviction, or else the
// first proposal with a goal that needs it.
func (e *Explainer) judge(pod cluster.PodID, goals []plan.GoalStatus) explainedMode {
	needs := func(mode plan.StrategyMode) bool {
		return slices.ContainsFunc(goals, func(g plan.GoalStatus) bool { return g.EvictionHelps && g.Mode == mode })
	}
	if _, moved := e.automatic.moves[pod]; moved {
		return e.automatic
	}
	for _, of := range e.proposals {
		if _, moved := of.moves[pod]; moved {
			return of
		}
	}
	for _, of := range e.proposals {
		if !needs("") && needs(of.mode) {
			return of
		}
	}
	return e.automatic
}

// landing explains the landing of the pod's replacement for the strategies that the planner would ask first: those that
// are not soft, if the eviction could improve one of their goals.
func (of explainedMode) landing(p *cluster.Pod) plan.Landing {
	if of.start.End.Goals.HasSoft() {
		turn, t := goal.SoftTurn, of.start.End.Goals
		t.EachAffected(p.ID, p.Node, cluster.NoNode, func(g int) bool {
			if !t.Goals[g].Soft && t.Asks(g, p.ID) && t.Excess(g) > 0 && t.CouldImprove(g, p.ID, p.Node) {
				turn = goal.FirmTurn
			}
			return turn != goal.FirmTurn
		})
		of.start.Problem.SetTurn(of.start.End, turn)
		defer of.start.Problem.SetTurn(of.start.End, goal.EveryTurn)
	}
	return explainLanding(of.start, p)
}
