// Package search finds the moves of a plan. Package search orders candidates, predicts where each replacement lands,
// and groups moves into waves. Package search never evicts pods. Package summary converts the search into a plan.
package search

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/settings"
)

// firstOnlyTurns returns the values of onlyFirst, in the order in which the search applies them.
func (c *Search) firstOnlyTurns() []bool {
	if c.firstAlone {
		return []bool{true, false}
	}
	return []bool{false}
}

// Search finds the moves of one planning pass.
type Search struct {
	goalSearch
	firstAlone     bool  // an attempt moves pods for the goals in Goals.First alone before it considers all goals
	FinalPassGoals []int // unmet goals of which the final pass tried every pod again
	// NotTried is the number of unmet requested goals at which the search did not look before it was cut short.
	NotTried int
	// BeforeGoals says that the search was cut short before all goals were stated.
	BeforeGoals bool
}

// NewSearch returns a search without moves.
func NewSearch(opts *settings.Options, s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) *Search {
	return &Search{goalSearch: goalSearch{
		waveBuilder: waveBuilder{pass: newPass(opts, s, st, goals, now)},
		triedIn:     make([]int32, len(s.Pods)), unmetAttempts: make([]int, len(goals)), begun: make([]bool, len(goals)),
		fixed: make([]bool, len(goals)),
	}}
}

// passOverGoals moves pods for all goals. Moves without hints come before moves with hints, and the scopes are tried
// in order.
func (c *Search) passOverGoals() {
	for _, c.onlyFirst = range c.firstOnlyTurns() {
		for _, c.wave.mayHint = range c.hintPhases() {
			for c.scope = range scopes {
				c.repeatRounds()
			}
		}
	}
	for len(c.closeWave()) > 0 {
		c.repeatRounds() // for the moves that the wave dropped
	}
}

// Run finds the moves and assigns them to waves.
func (c *Search) Run() {
	c.BeforeGoals = c.Snapshot.Work.Stopped()
	soft := c.Goals.HasSoft()
	c.SetTurn(goal.FirmTurn)
	c.wave = NewWave(c.State, c.Eligibility, c.newConsumed(), 1)
	c.singleMoves()
	if c.displacementMoves() {
		c.finalPass()
	}
	c.emptyNodes()
	if soft {
		c.softMoves()
	}
	c.movesWithoutPlace()
	c.rejectNotTried()
}

// CountFixed returns the number of unmet requested goals of which no pod may leave.
func CountFixed(c *Search) (n int) {
	for g, fixed := range c.fixed {
		if fixed && !c.Goals.Goals[g].Constraint && c.Goals.Excess(g) > 0 {
			n++
		}
	}
	return n
}

// rejectNotTried records the reason for the pods of the goals that were not tried before the search was cut short.
func (c *Search) rejectNotTried() {
	reason, cut := c.LimitReached()
	if !cut {
		return
	}
	for g := range c.Goals.Goals {
		if c.Goals.Goals[g].Constraint || c.Goals.Excess(g) == 0 || c.begun[g] && !c.Snapshot.Work.Stopped() {
			continue
		}
		if !c.begun[g] {
			c.NotTried++
		}
		c.rejectAll(g, reason)
	}
}

// singleMoves finds the moves that improve a goal by themselves. A goal often stays unmet because earlier moves for
// other goals used the target nodes of its pods. The next attempt therefore starts with the unmet goals. singleMoves
// keeps the best attempt and ends with the final pass.
func (c *Search) singleMoves() {
	unmetPods := c.countUnmetPods()
	c.attempt()
	best, vain, last := c.currentResult(), 0, 0
	c.attemptFirstAlone(&best)
	c.greedyAttempts(unmetPods, &best)
	for range maxAttempts - 1 {
		spent := *c.predictions
		if !c.countUnmet() || vain == maxFailedAttempts || c.Snapshot.Work.Stopped() || 2*spent-last > c.predictionsForRepeat() {
			break
		}
		last = spent
		c.restart()
		c.attempt()
		if o := c.currentResult(); o.better(best) {
			best, vain = o, 0
		} else {
			vain++
		}
	}
	c.restore(best)
	c.finalPass()
}

// attempt makes one pass over the goals. If moves have become needless, attempt removes these moves and makes another
// pass. If a goal then has more excess than before, attempt restores the earlier moves.
func (c *Search) attempt() {
	c.passOverGoals()
	if n := c.countNeedless(); n == 0 || n*minShareOfMoves < len(c.Moves) || c.Snapshot.Work.Stopped() {
		c.dropLast()
		return
	}
	first := c.currentResult()
	c.dropNeedless()
	c.passOverGoals()
	if c.dropLast(); c.worseThan(first) {
		c.restore(first)
	}
}

// attemptFirstAlone makes an attempt that moves pods for the goals in Goals.First before all other goals. This
// attempt is made only if the best attempt leaves excess in the first goals and moves pods for other goals. Moves for
// other goals fill waves, use up limits and take room on nodes. The attempt costs as much as the first attempt. If no
// limit blocks a first goal, the attempt must fit into predictionsForRepeat.
func (c *Search) attemptFirstAlone(best *attemptResult) {
	if c.Snapshot.Work.Stopped() || plan.Round(best.firstExcessLeft) == 0 || !c.hasMovesForOtherGoals() || !c.limitsBlockFirstGoals() &&
		2**c.predictions > c.predictionsForRepeat() {
		return
	}
	c.restart()
	c.firstAlone = true
	c.attempt()
	if o := c.currentResult(); o.better(*best) {
		*best = o
		return
	}
	c.firstAlone = false
}

// hasMovesForOtherGoals reports whether a move improves no goal in Goals.First.
func (c *pass) hasMovesForOtherGoals() bool {
	return slices.ContainsFunc(c.Moves, func(m WaveStep) bool {
		return !slices.ContainsFunc(m.Landing.ImprovedGoals, func(g int) bool { return c.Goals.First[g] })
	})
}

// limitsBlockFirstGoals reports whether limits are exhausted, or a limit blocks a pod of an unmet goal in
// Goals.First.
func (c *pass) limitsBlockFirstGoals() bool {
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

// greedyAttempts makes up to maxGreedyStarts greedy attempts, each with a different first move. The parameter
// unmetPods is the number of pods of unmet goals. greedyAttempts keeps the best result in best.
func (c *Search) greedyAttempts(unmetPods int, best *attemptResult) {
	var firsts []cluster.PodID
	for range maxGreedyStarts {
		if !c.countUnmet() || c.Snapshot.Work.Stopped() || *c.predictions+2*unmetPods*(len(best.moves)+1) > c.predictionsForRepeat()/2 {
			return
		}
		c.restart()
		first := c.greedyMoves(firsts)
		c.attempt()
		if o := c.currentResult(); o.better(*best) {
			*best = o
		}
		if first < 0 {
			return
		}
		firsts = append(firsts, first)
	}
}

// finalPass adds single moves until no further single move helps, or until it has no predictions left. Without
// finalPass, the next plan would find these moves: an attempt stops when a round adds less than 0.5 % of the moves,
// and later moves can make room for a pod rejected earlier. FinalPassGoals then lists the unmet goals whose pods
// finalPass tried again at the end, worst first. The prediction limit may shorten this list. For other unmet goals, a
// further move may still help.
func (c *Search) finalPass() {
	c.FinalPassGoals = nil
	c.openWave()
	effort := *c.predictions + c.finalPassPredictions()
	for {
		was, wave := len(c.Moves), c.wave.number
		var todo []int
		for _, c.wave.mayHint = range c.hintPhases() {
			if todo = c.affordableGoals(effort); len(todo) == 0 {
				break
			}
			c.scope = anyGoal
			c.round++
			c.moveForGoals(todo)
		}
		if len(c.Moves) == was && c.wave.number == wave {
			if len(c.closeWave()) > 0 {
				continue
			}
			if _, spent := c.LimitReached(); !spent {
				c.FinalPassGoals = todo // otherwise some pods may not have been tried again
			}
			return
		}
	}
}

// affordableGoals returns the unmet goals whose pods can all be predicted within effort
// predictions, worst goal first. If limits are exhausted, affordableGoals returns nil. Goals of a
// strategy whose own limits are exhausted need no predictions.
func (c *goalSearch) affordableGoals(effort int) []int {
	if _, spent := c.Limits.Exhausted(); spent || c.Snapshot.Work.Stopped() {
		return nil
	}
	todo, left := c.Goals.UnmetByPriority(c.unmetAttempts), effort-*c.predictions
	for i, g := range todo {
		if _, spent := c.exhausted(g); spent {
			continue
		}
		if left -= len(c.PodsOf(g)); left < 0 {
			return todo[:i]
		}
	}
	return todo
}
