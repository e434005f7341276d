// Package search finds the moves of a plan. Package search orders candidates, predicts where each replacement lands,
// and groups moves into waves. Package search never evicts pods. Package summary converts the result into a plan.
package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// firstOnlyTurns returns the values of onlyFirst, in the order in which the search applies them.
func (c *search) firstOnlyTurns() []bool {
	if c.firstAlone {
		return []bool{true, false}
	}
	return []bool{false}
}

// search finds the moves of one planning pass: it makes several attempts, and keeps the best.
type search struct {
	problem *Problem
	sim     *Simulation // the cluster after the moves so far
	account *Account
	waves   *waves
	rounds  *rounds
	// firstAlone says that an attempt moves pods for the goals in Goals.First alone before it considers all goals.
	firstAlone     bool
	finalPassGoals []int
	notTried       int
	beforeGoals    bool
}

// newSearch returns a search without moves.
func newSearch(p *Problem) *search {
	sim := p.Start.Clone()
	sim.predictions = new(int)
	pods := len(sim.Snapshot.Pods)
	w := &waves{problem: p, sim: sim, account: p.Account.clone(sim), moved: make([]bool, pods), unlikely: make([]int, pods),
		movesOf: map[cluster.WorkloadID]int{}}
	return &search{problem: p, sim: sim, account: w.account, waves: w, rounds: newRounds(w)}
}

// Run finds the moves of a plan. It does not change the problem.
func (p *Problem) Run() *Result {
	c := newSearch(p)
	c.run()
	return &Result{Problem: p, Snapshot: c.sim.Snapshot, Options: c.sim.Options, End: c.sim, Account: c.account, Moves: c.waves.moves,
		HintedByWave: c.waves.hinted, FinalPassGoals: c.finalPassGoals, NotTried: c.notTried, BeforeGoals: c.beforeGoals, fixed: c.rounds.fixed}
}

// passOverGoals moves pods for all goals. Moves without hints come before moves with hints, and the scopes are tried
// in order.
func (c *search) passOverGoals() {
	for _, c.rounds.onlyFirst = range c.firstOnlyTurns() {
		for _, c.waves.current.mayHint = range c.sim.hintPhases() {
			for c.waves.scope = range scopes {
				c.rounds.repeatRounds(c.waves.scope > nodeAndGroup)
			}
		}
	}
	for len(c.waves.closeWave()) > 0 {
		c.rounds.repeatRounds(false) // for the moves that the wave dropped
	}
}

// run finds the moves and assigns them to waves.
func (c *search) run() {
	c.beforeGoals = c.sim.Snapshot.Work.Stopped()
	soft := c.sim.Goals.HasSoft()
	c.setTurn(goal.FirmTurn)
	c.waves.current = c.problem.newWave(c.sim, 1)
	c.singleMoves()
	if c.rounds.displacementMoves() {
		c.finalPass()
	}
	c.emptyNodes()
	if soft {
		c.softMoves()
	}
	c.movesWithoutPlace()
	c.rejectNotTried()
}

// setTurn makes the following moves be made for the strategies of the turn.
func (c *search) setTurn(turn goal.Turn) { c.problem.setTurn(c.sim, turn, c.waves.moves) }

// rejectNotTried records the reason for the pods of the goals that were not tried before the search was cut short.
func (c *search) rejectNotTried() {
	reason, cut := c.sim.LimitReached()
	if !cut {
		return
	}
	for g := range c.sim.Goals.Goals {
		if c.sim.Goals.Goals[g].Constraint || c.sim.Goals.Excess(g) == 0 || c.rounds.begun[g] && !c.sim.Snapshot.Work.Stopped() {
			continue
		}
		if !c.rounds.begun[g] {
			c.notTried++
		}
		c.rounds.rejectAll(g, reason)
	}
}

// singleMoves finds the moves that improve a goal by themselves. A goal often stays unmet because earlier moves for
// other goals used the target nodes of its pods. The next attempt therefore starts with the unmet goals. singleMoves
// keeps the best attempt and ends with the final pass.
func (c *search) singleMoves() {
	unmetPods := c.rounds.countUnmetPods()
	c.attempt()
	best, vain, last := c.waves.currentResult(), 0, 0
	c.attemptFirstAlone(&best)
	c.greedyAttempts(unmetPods, &best)
	for range maxAttempts - 1 {
		spent := *c.sim.predictions
		if !c.rounds.countUnmet() || vain == maxFailedAttempts || c.sim.Snapshot.Work.Stopped() || 2*spent-last > c.predictionsForRepeat() {
			break
		}
		last = spent
		c.rounds.restart()
		c.attempt()
		if o := c.waves.currentResult(); o.better(best) {
			best, vain = o, 0
		} else {
			vain++
		}
	}
	c.variedAttempts(unmetPods, &best)
	c.rounds.restore(best)
	c.finalPass()
}

// attempt makes one pass over the goals. If moves have become needless, attempt removes these moves and makes another
// pass. If a goal then has more excess than before, attempt restores the earlier moves.
func (c *search) attempt() {
	c.passOverGoals()
	if n := c.waves.countNeedless(); n == 0 || n*minShareOfMoves < len(c.waves.moves) || c.sim.Snapshot.Work.Stopped() {
		c.waves.dropLast()
		return
	}
	first := c.waves.currentResult()
	c.rounds.dropNeedless()
	c.passOverGoals()
	if c.waves.dropLast(); c.waves.worseThan(first) {
		c.rounds.restore(first)
	}
}

// attemptFirstAlone makes an attempt that moves pods for the goals in Goals.First before all other goals. This
// attempt is made only if the best attempt leaves excess in the first goals and moves pods for other goals. Moves for
// other goals fill waves, use up limits and take room on nodes. The attempt costs as much as the first attempt. If no
// limit blocks a first goal, the attempt must fit into predictionsForRepeat.
func (c *search) attemptFirstAlone(best *attemptResult) {
	if c.sim.Snapshot.Work.Stopped() || plan.Round(best.firstExcessLeft) == 0 || !c.waves.hasMovesForOtherGoals() || !c.limitsBlockFirstGoals() &&
		2**c.sim.predictions > c.predictionsForRepeat() {
		return
	}
	c.rounds.restart()
	c.firstAlone = true
	c.attempt()
	if o := c.waves.currentResult(); o.better(*best) {
		*best = o
		return
	}
	c.firstAlone = false
}

// hasMovesForOtherGoals reports whether a move improves no goal in Goals.First.
func (c *waves) hasMovesForOtherGoals() bool {
	return slices.ContainsFunc(c.moves, func(m WaveStep) bool {
		return !slices.ContainsFunc(m.Landing.ImprovedGoals, func(g int) bool { return c.sim.Goals.First[g] })
	})
}

// limitsBlockFirstGoals reports whether limits are exhausted, or a limit blocks a pod of an unmet goal in
// Goals.First.
func (c *search) limitsBlockFirstGoals() bool {
	if _, spent := c.account.Limits.Exhausted(); spent {
		return true
	}
	for g, first := range c.sim.Goals.First {
		if first && c.sim.Goals.Excess(g) > 0 && slices.ContainsFunc(c.problem.PodsOf(g), c.account.Rejections.ByLimit) {
			return true
		}
	}
	return false
}

// greedyAttempts makes up to maxGreedyStarts greedy attempts, each with a different first move. The parameter
// unmetPods is the number of pods of unmet goals. greedyAttempts keeps the best result in best.
func (c *search) greedyAttempts(unmetPods int, best *attemptResult) {
	var firsts []cluster.PodID
	for range maxGreedyStarts {
		if !c.rounds.countUnmet() || c.sim.Snapshot.Work.Stopped() || *c.sim.predictions+2*unmetPods*(len(best.moves)+1) > c.predictionsForRepeat()/2 {
			return
		}
		c.rounds.restart()
		first := c.rounds.greedyMoves(nil, firsts)
		c.attempt()
		if o := c.waves.currentResult(); o.better(*best) {
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
// and later moves can make room for a pod rejected earlier. finalPassGoals then lists the unmet goals whose pods
// finalPass tried again at the end, worst first. The prediction limit may shorten this list. For other unmet goals, a
// further move may still help.
func (c *search) finalPass() {
	c.finalPassGoals = nil
	c.waves.openWave()
	effort := *c.sim.predictions + c.sim.finalPassPredictions()
	for {
		was, wave := len(c.waves.moves), c.waves.current.number
		var todo []int
		clear(c.waves.unlikely)
		for _, c.waves.current.mayHint = range c.sim.hintPhases() {
			if todo = c.rounds.affordableGoals(effort); len(todo) == 0 {
				break
			}
			c.waves.scope = anyGoal
			c.rounds.round++
			c.rounds.moveForGoals(todo)
		}
		if len(c.waves.moves) == was && c.waves.current.number == wave {
			if len(c.waves.closeWave()) > 0 {
				continue
			}
			if _, spent := c.sim.LimitReached(); !spent {
				c.finalPassGoals = todo // otherwise some pods may not have been tried again
			}
			return
		}
	}
}

// affordableGoals returns the unmet goals whose pods can all be predicted within effort
// predictions, worst goal first. If limits are exhausted, affordableGoals returns nil. Goals of a
// strategy whose own limits are exhausted need no predictions.
func (c *rounds) affordableGoals(effort int) []int {
	if _, spent := c.account.Limits.Exhausted(); spent || c.sim.Snapshot.Work.Stopped() {
		return nil
	}
	todo, left := c.sim.Goals.UnmetByPriority(c.unmetAttempts), effort-*c.sim.predictions
	for i, g := range todo {
		if _, spent := c.account.exhausted(g); spent {
			continue
		}
		if left -= len(c.problem.PodsOf(g)); left < 0 {
			return todo[:i]
		}
	}
	return todo
}

// softMoves adds single moves for soft strategies to the moves for all others.
func (c *search) softMoves() {
	firm, was := c.finalPassGoals, len(c.waves.moves)
	c.setTurn(goal.SoftTurn)
	c.firstAlone = false
	c.waves.current = c.problem.newWave(c.sim, 0)
	c.waves.openWave()
	c.rounds.round++
	c.passOverGoals()
	c.finalPass()
	c.emptyNodes()
	c.setTurn(goal.EveryTurn)
	if len(c.waves.moves) == was { // otherwise the final pass of the other strategies has not seen these moves
		c.finalPassGoals = append(firm, c.finalPassGoals...)
	}
}
