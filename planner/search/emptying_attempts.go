package search

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// maxEmptyingAttempts limits the orders in which the search tries to empty nodes.
const maxEmptyingAttempts = 12

// emptyNodes makes the steps that empty nodes. It tries the nodes in the stated order and, if one
// stays, in other orders, and keeps the best attempt: it empties the most nodes and, among equals,
// has the fewest evictions. If there are any steps, other moves may have become possible, and the
// final pass follows.
func (c *search) emptyNodes() {
	goals := goal.Emptying{Tracker: c.sim.Goals}.Unmet()
	if len(goals) == 0 {
		return
	}
	e := &emptyingSearch{c.problem, c.sim, c.account, c.waves, c.rounds, map[string]int{}, c.sim.finalPassPredictions()}
	open := slices.DeleteFunc(slices.Clone(goals), func(g int) bool { _, no := e.cannotLeave(g); return no })
	before, spent := e.checkpoint(), *c.sim.predictions
	e.emptyAll(goals, true)
	e.tryOtherOrders(goals, open, before, *c.sim.predictions-spent)
	if len(c.waves.moves) > len(before.moves) {
		c.finalPass()
	}
}

// emptyAll tries all nodes, and those without an acceptable landing again after each success. If closed is set, nodes
// that may still be emptied take no replacements in the first round.
func (e *emptyingSearch) emptyAll(goals []int, closed bool) {
	if closed {
		goals = e.emptyEach(goals, true)
	}
	for done := -1; len(e.waves.moves) > done; { // an emptied node can make room
		done = len(e.waves.moves)
		goals = e.emptyEach(goals, false)
	}
}

// tryOtherOrders repeats the search from the state before, in other orders, while nodes stay and the predictions allow
// as many as the first attempt needed. It keeps the best attempt.
func (e *emptyingSearch) tryOtherOrders(goals, open []int, before attemptResult, cost int) {
	stay := slices.DeleteFunc(slices.Clone(open), func(g int) bool {
		of := &e.sim.Goals.Goals[g]
		return e.sim.Goals.Excess(g) == 0 || of.MaxNodes > 0 && e.emptied[of.Strategy] >= of.MaxNodes // no order empties more
	})
	if len(stay) == 0 {
		return
	}
	best, left, tries := e.checkpoint(), e.spare, 0
	for _, order := range e.otherOrders(goals, stay) {
		for _, closed := range []bool{true, false} {
			if left -= cost; left < 0 || tries == maxEmptyingAttempts {
				break
			}
			tries++
			e.startAgain(before)
			e.emptyAll(order, closed)
			if o := e.checkpoint(); o.better(best) {
				best = o
			}
		}
	}
	e.rounds.restore(best)
}

// otherOrders returns orders of the goals: by the number of pods that must leave, and each goal of a node that stayed
// before all others.
func (e *emptyingSearch) otherOrders(goals, stuck []int) (orders [][]int) {
	byPods := slices.Clone(goals)
	slices.SortStableFunc(byPods, func(a, b int) int {
		return cmp.Compare(len(e.sim.Goals.Goals[a].Pods), len(e.sim.Goals.Goals[b].Pods))
	})
	orders = append(orders, byPods)
	for _, g := range stuck {
		others := slices.DeleteFunc(slices.Clone(goals), func(o int) bool { return o == g })
		orders = append(orders, slices.Concat([]int{g}, others))
	}
	return orders
}

// checkpoint returns the current result. Later moves do not change it.
func (e *emptyingSearch) checkpoint() attemptResult {
	o := e.waves.currentResult()
	o.moves, o.hinted = slices.Clone(o.moves), slices.Clone(o.hinted)
	return o
}

// startAgain returns to an earlier result.
func (e *emptyingSearch) startAgain(at attemptResult) {
	clear(e.emptied)
	own := at
	own.moves, own.hinted, own.rejections = slices.Clone(at.moves), slices.Clone(at.hinted), at.rejections.Clone()
	e.rounds.restore(own)
}
