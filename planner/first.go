package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// FirstGoals are, by goal, the requested goals about nodes that are drained first, by
// request or since they are under pressure, where no other goal weighs more: what
// limits allow is theirs before it is anybody's.
func (t *Tracker) FirstGoals() []bool {
	heaviest := 0.0
	for i := range t.Goals {
		if g := &t.Goals[i]; !g.Constraint && t.Excess(i) > 0 {
			heaviest = max(heaviest, g.Weight)
		}
	}
	out := make([]bool, len(t.Goals))
	for i := range out {
		g := &t.Goals[i]
		out[i] = !g.Constraint && t.Excess(i) > 0 && g.Weight >= heaviest && t.drainOrder(i) == 0
	}
	return out
}

// FirstOrder is 0 for goals that are served first, and 1 for others.
func (t *Tracker) FirstOrder(g int) int {
	if t.First[g] {
		return 0
	}
	return 1
}

// firstOnlyTurns says whether only the goals that are served first are served, turn by turn.
func (c *Search) firstOnlyTurns() []bool {
	if c.firstAlone {
		return []bool{true, false}
	}
	return []bool{false}
}

// goalsToServe lists the goals that are served now, by need.
func (c *Search) goalsToServe() []int {
	list := c.Goals.ByNeed(c.unmetAttempts)
	if c.onlyFirst {
		return slices.DeleteFunc(list, func(g int) bool { return !c.Goals.First[g] })
	}
	return list
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
