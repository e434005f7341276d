package search

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// A further attempt costs as much as the first. repeatPredictions bounds the predictions of
// all attempts together, multiplied by the number of nodes. At 200 nodes that allows 20,000
// predictions. Clusters of up to a few hundred nodes therefore get several attempts.
const (
	maxAttempts       = 6
	repeatPredictions = 4_000_000
	maxFailedAttempts = 2
	maxGreedyStarts   = 8
)

// Run finds the moves and assigns them to waves.
func (c *Search) Run() {
	c.wave = newWave(NewWaveStates(c.State), eligibility.NewConsumed(), 1)
	c.singleMoves()
	if c.displacementMoves() {
		c.finalPass()
	}
}

// singleMoves finds the moves that serve a goal by themselves. A goal often stays unmet
// because earlier moves for other goals took the nodes that its pods would land on. The next
// attempt therefore serves such goals first. singleMoves keeps the best attempt and ends with
// the final pass.
func (c *Search) singleMoves() {
	pull := c.countUnmetPods()
	c.attempt()
	best, vain, last := c.result(), 0, 0
	c.attemptFirstAlone(&best)
	c.greedyAttempts(pull, &best)
	for range maxAttempts - 1 {
		spent := *c.predictions
		if !c.countUnmet() || vain == maxFailedAttempts || 2*spent-last > c.predictionsForRepeat() {
			break
		}
		last = spent
		c.restart()
		c.attempt()
		if o := c.result(); o.better(best) {
			best, vain = o, 0
		} else {
			vain++
		}
	}
	c.restore(best)
	c.finalPass()
}

// countUnmet adds one to unmetAttempts of each unmet requested goal. It reports whether there
// is one.
func (c *Search) countUnmet() (some bool) {
	for g, goal := range c.Goals.Goals {
		if !goal.Constraint && c.Goals.Excess(g) > 0 {
			c.unmetAttempts[g]++
			some = true
		}
	}
	return some
}

// restart undoes all moves and clears all rejections.
func (c *Search) restart() {
	var made []Step
	for _, m := range c.Moves {
		made = append(made, m.Step)
	}
	c.rewind(made)
	c.Rejections = newRejections(len(c.Snapshot.Pods))
}

// attempt serves the goals once. If moves have become needless, it removes them and
// continues. If that leaves a goal farther from its limit, it restores the earlier moves.
func (c *Search) attempt() {
	c.passOverGoals()
	if n := c.countNeedless(); n == 0 || n*minShareOfMoves < len(c.Moves) {
		c.dropLast()
		return
	}
	first := c.result()
	c.dropNeedless()
	c.passOverGoals()
	if c.dropLast(); c.worseThan(first) {
		c.restore(first)
	}
}

// predictionsForRepeat returns how many predictions a plan may reach with a further attempt.
// It returns 0 if limits are exhausted: the next pass serves the remaining goals.
func (c *Search) predictionsForRepeat() int {
	if _, spent := c.Limits.Exhausted(); spent {
		return 0
	}
	most := repeatPredictions / max(1, len(c.Snapshot.Nodes))
	if effort := c.Options.MaxPredictions; effort > 0 {
		most = min(most, effort)
	}
	return most
}

// PredictionLimitReached reports whether the search has used limits.maxPredictions, and
// returns the reason for each remaining pod. The search then ends and keeps the moves that it
// has planned.
func (c *Search) PredictionLimitReached() (plan.Reason, bool) {
	most := c.Options.MaxPredictions
	if most == 0 || *c.predictions < most {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.PredictionLimitReached, Message: fmt.Sprintf("limits.maxPredictions lets a plan predict %s; it was cut short", CountPredictions(most))}, true
}

func CountPredictions(n int) string {
	if n == 1 {
		return "1 landing"
	}
	return fmt.Sprintf("%d landings", n)
}

func CountPodsWere(n int) string {
	if n == 1 {
		return "1 pod was"
	}
	return fmt.Sprintf("%d pods were", n)
}

// attemptFirstAlone makes an attempt that serves the goals in Goals.First alone before all
// others. It does so only if the best attempt leaves excess in these goals and also moves
// pods for others. A wave takes few pods of one node; moves for other goals fill it, spend
// limits and take room. The attempt costs as much as the first. If no limit blocks a first
// goal, it must fit the predictions for repeated attempts.
func (c *Search) attemptFirstAlone(best *attemptResult) {
	if plan.Round(best.firstExcessLeft) == 0 || !c.servesOthers() || !c.limitedFirst() && 2**c.predictions > c.predictionsForRepeat() {
		return
	}
	c.restart()
	c.firstAlone = true
	c.attempt()
	if o := c.result(); o.better(*best) {
		*best = o
		return
	}
	c.firstAlone = false
}

// servesOthers reports whether some move serves no goal in Goals.First.
func (c *Search) servesOthers() bool {
	return slices.ContainsFunc(c.Moves, func(m WaveStep) bool {
		return !slices.ContainsFunc(m.Landing.Served, func(g int) bool { return c.Goals.First[g] })
	})
}

// limitedFirst reports whether limits are exhausted, or a limit blocks a pod of an unmet goal
// in Goals.First.
func (c *Search) limitedFirst() bool {
	if _, spent := c.Limits.Exhausted(); spent {
		return true
	}
	for g, first := range c.Goals.First {
		if first && c.Goals.Excess(g) > 0 && slices.ContainsFunc(c.PodsOf(g), c.Rejections.ByLimit) {
			return true
		}
	}
	return false
}
