package planner

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Further attempts cost as much as the first. Clusters of up to some hundred nodes get
// several: as many as let all attempts together foretell the places of so many pods,
// times nodes. At 200 nodes that is 20,000 predictions.
const (
	mostAttempts   = 6
	againEffort    = 4_000_000
	attemptsInVain = 2
	mostBeginnings = 8
)

// run finds the moves, in waves.
func (c *search) run() {
	c.wave = newWave(c.scene.clone(), newLost(), 1)
	c.single()
	if c.takeSteps() {
		c.settle()
	}
}

// single finds the moves that serve a goal by themselves. What an attempt leaves unmet
// often is so because earlier moves, for others, took away the places to which the
// scheduler would have sent its pods: the next attempt serves those goals first. The best
// one counts.
func (c *search) single() {
	pull := c.pull()
	c.attempt()
	best, vain, last := c.outcome(), 0, 0
	c.aloneAttempt(&best)
	c.steepestAttempts(pull, &best)
	for range mostAttempts - 1 {
		spent := *c.predictions
		if !c.noteStuck() || vain == attemptsInVain || 2*spent-last > c.mostAgain() {
			break
		}
		last = spent
		c.again()
		c.attempt()
		if o := c.outcome(); o.better(best) {
			best, vain = o, 0
		} else {
			vain++
		}
	}
	c.restore(best)
	c.settle()
}

// noteStuck counts the goals that are unmet, and reports whether there are any.
func (c *search) noteStuck() (some bool) {
	for g, goal := range c.goals.list {
		if !goal.Constraint && c.goals.excess(g) > 0 {
			c.stuck[g]++
			some = true
		}
	}
	return some
}

// again begins anew.
func (c *search) again() {
	var made []step
	for _, m := range c.moves {
		made = append(made, m.step)
	}
	c.rewind(made)
	c.refused = newRefusals(len(c.s.Pods))
}

// attempt serves the goals. What limits allow goes to moves that need no hints on
// nodes first. Where moves have become needless it goes on without them, unless that
// ends farther from a goal.
func (c *search) attempt() {
	c.pass()
	if n := c.countNeedless(); n == 0 || n*worthwhile < len(c.moves) {
		c.dropLast()
		return
	}
	first := c.outcome()
	c.replay()
	c.pass()
	if c.dropLast(); c.worseThan(first) {
		c.restore(first)
	}
}

// mostAgain is how many predictions there may be with a further attempt, which is
// expected to take as many as the last. None is made where limits are spent: what is
// left is then for the next pass.
func (c *search) mostAgain() int {
	if _, spent := c.limits.spent(); spent {
		return 0
	}
	most := againEffort / max(1, len(c.s.Nodes))
	if effort := c.p.opts.Effort; effort > 0 {
		most = min(most, effort)
	}
	return most
}

// spentEffort says why no more landings are foretold. The search then ends by itself,
// each pod that is left with this reason; what it has planned stands.
func (c *search) spentEffort() (plan.Reason, bool) {
	most := c.p.opts.Effort
	if most == 0 || *c.predictions < most {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.PredictionLimitReached, Message: fmt.Sprintf("limits.maxPredictions lets a plan foretell %s; it was cut short", landingsWord(most))}, true
}

func landingsWord(n int) string {
	if n == 1 {
		return "1 landing"
	}
	return fmt.Sprintf("%d landings", n)
}

func podsWere(n int) string {
	if n == 1 {
		return "1 pod was"
	}
	return fmt.Sprintf("%d pods were", n)
}
