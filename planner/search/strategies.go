package search

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/settings"
)

// A strategy may have a scope, guards and limits of its own. A pod moves for one strategy, which
// must allow the move and whose limits count it. For a strategy that may not move the pod, the
// goals are constraints of the move. Without such strategies, every function in this file returns
// at once.

// addStrategies prepares the rules of the strategies.
func addStrategies(c *pass) {
	if c.Options.HasStrategyRules() {
		c.Limits.AddStrategies(c.Options.Strategies, func(name string) history.HourlyCounts {
			return history.CountLastHourFor(c.PlannerState, name, c.Now)
		})
	}
	c.Goals.SelectsNodes = c.Options.SelectsNodes()
	if !c.Options.HasRulesForMoves() {
		return
	}
	c.strategyOfGoal = make([]int, len(c.allGoals))
	for i := range c.allGoals {
		c.strategyOfGoal[i] = c.Options.StrategyIndex(c.allGoals[i].Strategy)
	}
	eligible, strategyOf := c.Eligibility, c.strategyOfGoal
	c.Goals.Barred = func(g int, pod cluster.PodID) bool {
		_, barred := eligible.BarredFor(strategyOf[g], pod)
		return barred
	}
}

// strategyName returns the name of the strategy of a move, or "".
func (c *State) strategyName(m Move) string {
	if m.Strategy != settings.NoStrategy {
		return c.Options.Strategies[m.Strategy].Name
	}
	return ""
}

// StrategyOf returns the index of the strategy of goal g, or settings.NoStrategy if no strategy
// with moves has rules of its own.
func (c *pass) StrategyOf(g int) int {
	if c.strategyOfGoal == nil {
		return settings.NoStrategy
	}
	return c.strategyOfGoal[g]
}

// RequestingStrategies returns the strategies with requested goals, in ascending order. It returns
// nil if no strategy has rules of its own.
func (c *pass) RequestingStrategies() (out []int) {
	for g, strategy := range c.strategyOfGoal {
		if !c.allGoals[g].Constraint {
			out = append(out, strategy)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isOutOfScope reports whether the reason says only that the pod is not in the scope of one
// strategy. Any other reason is worth more to the reader.
func (c *goalSearch) isOutOfScope(r plan.Reason) bool {
	return c.strategyOfGoal != nil && (r.Code == plan.NamespaceExcluded || r.Code == plan.NodeOutOfScope)
}

// reject records why a pod is not moved for goal g.
func (c *goalSearch) reject(pod cluster.PodID, g int, reason plan.Reason) {
	if c.isOutOfScope(reason) && c.Rejections.Has(pod) {
		return
	}
	c.Rejections.Add(pod, c.Goals.Goals[g].Strategy, reason)
}

// exhausted returns the limit that allows no more moves for goal g.
func (c *goalSearch) exhausted(g int) (plan.Reason, bool) {
	if reason, spent := c.Limits.Exhausted(); spent {
		return reason, true
	}
	return c.Limits.ExhaustedFor(c.StrategyOf(g))
}

// limitsAllowMore reports whether the limits allow another move for an unmet goal. If only one
// strategy has unmet goals, its own limits end the search as those of the pass do.
func limitsAllowMore(c *pass) bool {
	if _, spent := c.Limits.Exhausted(); spent {
		return false
	}
	if c.strategyOfGoal == nil {
		return true
	}
	for g := range c.Goals.Goals {
		if c.Goals.Goals[g].Constraint || c.Goals.Excess(g) == 0 {
			continue
		}
		if _, spent := c.Limits.ExhaustedFor(c.StrategyOf(g)); !spent {
			return true
		}
	}
	return false
}

// neededConfidence returns the least confidence of the move's landing, and a prefix for reasons if its strategy sets
// it.
func (c *State) neededConfidence(m Move) (least float64, prefix string) {
	if own := c.Options.RulesOf(m.Strategy); own != nil && own.MinConfidence > c.Options.MinConfidence {
		return own.MinConfidence, "strategy " + c.strategyName(m) + ": "
	}
	return c.Options.MinConfidence, ""
}

// triedMark is the mark in triedIn of pods whose landing the search rejected in this round for the strategy of goal g.
func (c *goalSearch) triedMark(g int) int32 {
	if c.strategyOfGoal == nil {
		return c.round
	}
	return c.round*int32(len(c.Options.Strategies)+1) + int32(c.strategyOfGoal[g]+1)
}

// attribute chooses the strategy for which a pod moves, and the goal that it improves most: of the strategies whose
// goals the landing improves, and whose rules and limits allow the move. The result is Later if the wave is full.
func (c *waveBuilder) attribute(m *Step) (Verdict, plan.Reason) {
	if c.strategyOfGoal == nil {
		return Admitted, plan.Reason{}
	}
	allowed := slices.DeleteFunc(slices.Clone(m.Landing.ImprovedGoals), func(g int) bool { return !c.strategyAllows(c.strategyOfGoal[g], m) })
	if len(allowed) == 0 {
		return Refused, c.noStrategyReason(m)
	}
	allowed = slices.DeleteFunc(allowed, func(g int) bool { return !c.wave.InFlight.CanAdd(c.Eligibility, m.Pod, c.strategyOfGoal[g]) })
	switch {
	case len(allowed) == 0 && c.wave.InFlight.Total > 0:
		return Later, plan.Reason{}
	case len(allowed) == 0:
		return Refused, c.wave.noRoomReason(m.Pod)
	}
	m.goal = c.Goals.MostImproved(m.Pod, m.From, allowed)
	m.Strategy = c.strategyOfGoal[m.goal]
	return Admitted, plan.Reason{}
}

// noStrategyReason returns the reason if no strategy whose goals the landing improves allows the move.
func (c *waveBuilder) noStrategyReason(m *Step) plan.Reason {
	for _, g := range m.Landing.ImprovedGoals {
		if reason, no := c.Limits.RefuseFor(c.strategyOfGoal[g], m.Pod); no {
			return reason
		}
	}
	return plan.Reason{Code: plan.UncertainLanding, Message: fmt.Sprintf(
		"strategy %s: its replacement most likely lands on %s, where it improves only goals of strategies whose rules forbid the move",
		c.allGoals[m.goal].Strategy, c.NodeName(m.Landing.To))}
}

// strategyAllows reports whether the rules and limits of the strategy allow the move, in this wave or a later one.
func (c *waveBuilder) strategyAllows(strategy int, m *Step) bool {
	if _, no := c.Limits.RefuseFor(strategy, m.Pod); no {
		return false
	}
	own := c.Options.RulesOf(strategy)
	return own == nil || m.sureness() >= own.MinConfidence
}

// GoalsOfStrategy returns those of the goals that belong to the strategy, or all if no strategy has rules of its own.
func (c *pass) GoalsOfStrategy(strategy int, goals []int) []int {
	if c.strategyOfGoal == nil {
		return goals
	}
	return slices.DeleteFunc(slices.Clone(goals), func(g int) bool { return c.strategyOfGoal[g] != strategy })
}

// SetTurn makes the following moves be made for the strategies of the turn. Without soft strategies, it does nothing.
func (c *pass) SetTurn(turn goal.Turn) {
	if !c.Goals.HasSoft() {
		return
	}
	c.Goals = c.Goals.ForTurn(turn, c.allGoals, c.EarlierMoves(), podMoves(c.Moves))
	c.moveCount++ // a landing that was not acceptable may be acceptable in this turn
}

// EarlierMoves returns the moves before the start that change it; see StartAfter.
func (c *pass) EarlierMoves() []goal.PodMove {
	return podMoves(slices.DeleteFunc(slices.Clone(c.Earlier), func(m WaveStep) bool { return m.Kind == WithoutPlace }))
}

func podMoves(steps []WaveStep) (out []goal.PodMove) {
	for _, m := range steps {
		out = append(out, goal.PodMove{Pod: m.Pod, From: m.From, To: m.Landing.To})
	}
	return out
}

// softMoves adds single moves for soft strategies to the moves for all others.
func (c *Search) softMoves() {
	firm, was := c.FinalPassGoals, len(c.Moves)
	c.SetTurn(goal.SoftTurn)
	c.firstAlone = false
	c.wave = NewWave(c.State, c.Eligibility, c.newConsumed(), 0)
	c.openWave()
	c.round++
	c.passOverGoals()
	c.finalPass()
	c.emptyNodes()
	c.SetTurn(goal.EveryTurn)
	if len(c.Moves) == was { // otherwise the final pass of the other strategies has not seen these moves
		c.FinalPassGoals = append(firm, c.FinalPassGoals...)
	}
}
