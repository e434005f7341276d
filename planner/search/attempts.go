package search

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
)

// Further attempts cost as much as the first. Clusters of up to some hundred nodes get
// several: as many as let all attempts together foretell the places of so many pods,
// times nodes. At 200 nodes that is 20,000 predictions.
const (
	maxAttempts       = 6
	repeatPredictions = 4_000_000
	maxFailedAttempts = 2
	maxGreedyStarts   = 8
)

// Run finds the moves, in waves.
func (c *Search) Run() {
	c.wave = newWave(c.State.Clone(), eligibility.NewConsumed(), 1)
	c.singleMoves()
	if c.displacementMoves() {
		c.finalPass()
	}
}

// singleMoves finds the moves that serve a goal by themselves. What an attempt leaves unmet
// often is so because earlier moves, for others, took away the places to which the
// scheduler would have sent its pods: the next attempt serves those goals first. The best
// one counts.
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

// countUnmet counts the goals that are unmet, and reports whether there are any.
func (c *Search) countUnmet() (some bool) {
	for g, goal := range c.Goals.Goals {
		if !goal.Constraint && c.Goals.Excess(g) > 0 {
			c.unmetAttempts[g]++
			some = true
		}
	}
	return some
}

// restart begins anew.
func (c *Search) restart() {
	var made []Step
	for _, m := range c.Moves {
		made = append(made, m.Step)
	}
	c.rewind(made)
	c.Rejections = newRejections(len(c.Snapshot.Pods))
}

// attempt serves the goals. What limits allow goes to moves that need no hints on
// nodes first. Where moves have become needless it goes on without them, unless that
// ends farther from a goal.
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

// predictionsForRepeat is how many predictions there may be with a further attempt, which is
// expected to take as many as the last. None is made where limits are spent: what is
// left is then for the next pass.
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

// PredictionLimitReached says why no more landings are foretold. The search then ends by itself,
// each pod that is left with this reason; what it has planned stands.
func (c *Search) PredictionLimitReached() (plan.Reason, bool) {
	most := c.Options.MaxPredictions
	if most == 0 || *c.predictions < most {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.PredictionLimitReached, Message: fmt.Sprintf("limits.maxPredictions lets a plan foretell %s; it was cut short", CountPredictions(most))}, true
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

// attemptFirstAlone serves the goals that are served first by themselves, where the best
// attempt leaves something of them and moves pods for others too: a wave takes few pods
// of one node, and what fills it up is for others, which spends limits and takes
// places. It costs as much as the first attempt, so that where no limit was in the way
// it has to be one of the further attempts that are made at all.
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

// servesOthers reports whether a move serves no goal that is served first.
func (c *Search) servesOthers() bool {
	return slices.ContainsFunc(c.Moves, func(m WaveStep) bool {
		return !slices.ContainsFunc(m.Landing.Served, func(g int) bool { return c.Goals.First[g] })
	})
}

// limitedFirst reports whether limits are spent, or one of them keeps a pod of a goal
// that is served first.
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
