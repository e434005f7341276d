package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// servedFirst are, by goal, the requested goals about nodes that are drained first, by
// request or since they are under pressure, where no other goal weighs more: what
// limits allow is theirs before it is anybody's.
func (t *tracker) servedFirst() []bool {
	heaviest := 0.0
	for i := range t.list {
		if g := &t.list[i]; !g.Constraint && t.excess(i) > 0 {
			heaviest = max(heaviest, g.Weight)
		}
	}
	out := make([]bool, len(t.list))
	for i := range out {
		g := &t.list[i]
		out[i] = !g.Constraint && t.excess(i) > 0 && g.Weight >= heaviest && t.drained(i) == 0
	}
	return out
}

// order is 0 for goals that are served first, and 1 for others.
func (t *tracker) order(g int) int {
	if t.first[g] {
		return 0
	}
	return 1
}

// turns says whether only the goals that are served first are served, turn by turn.
func (c *search) turns() []bool {
	if c.alone {
		return []bool{true, false}
	}
	return []bool{false}
}

// todo lists the goals that are served now, by need.
func (c *search) todo() []int {
	list := c.goals.byNeed(c.stuck)
	if c.onlySo {
		return slices.DeleteFunc(list, func(g int) bool { return !c.goals.first[g] })
	}
	return list
}

// aloneAttempt serves the goals that are served first by themselves, where the best
// attempt leaves something of them and moves pods for others too: a wave takes few pods
// of one node, and what fills it up is for others, which spends limits and takes
// places. It costs as much as the first attempt, so that where no limit was in the way
// it has to be one of the further attempts that are made at all.
func (c *search) aloneAttempt(best *outcome) {
	if plan.Round(best.first) == 0 || !c.servesOthers() || !c.limitedFirst() && 2**c.predictions > c.mostAgain() {
		return
	}
	c.again()
	c.alone = true
	c.attempt()
	if o := c.outcome(); o.better(*best) {
		*best = o
		return
	}
	c.alone = false
}

// servesOthers reports whether a move serves no goal that is served first.
func (c *search) servesOthers() bool {
	return slices.ContainsFunc(c.moves, func(m wavedStep) bool {
		return !slices.ContainsFunc(m.landing.served, func(g int) bool { return c.goals.first[g] })
	})
}

// limitedFirst reports whether limits are spent, or one of them keeps a pod of a goal
// that is served first.
func (c *search) limitedFirst() bool {
	if _, spent := c.limits.spent(); spent {
		return true
	}
	for g, first := range c.goals.first {
		if first && c.goals.excess(g) > 0 && slices.ContainsFunc(c.podsOf(g), c.refused.byLimit) {
			return true
		}
	}
	return false
}
