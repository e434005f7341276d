package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// rounds tries the pods of unmet goals, goal by goal, in rounds over all goals.
type rounds struct {
	problem *Problem
	sim     *Simulation
	account *Account
	waves   *waves
	order   *order
	// triedIn is the last round in which the search rejected the pod's landing or compared its move, by pod. The
	// search skips the pod for the rest of that round.
	triedIn         []int32
	round           int32
	onlyFirst       bool   // the search now considers only the goals in Goals.First
	unmetAttempts   []int  // by goal: attempts that left it unmet
	begun           []bool // by goal: the search has looked at its pods
	fixed           []bool // by goal: no pod of it may ever leave
	candidateBuffer []candidate
	// quiet says that the last round changed so little that the landings that it refused are not worth another try.
	quiet bool
	// outOfScope lists the pods that the round refused only because of its scope.
	outOfScope []cluster.PodID
	// spent is the last state in which the limits allowed no move; spentRound is that of a whole round over all goals.
	// rejected marks, by goal, whose pods rejectSpent rejected in the state spent.
	spent, spentRound spentState
	rejected          []bool
	// repeated says that the round tries again what an earlier round of its scope refused. vain counts the landings
	// that it has refused since its last move.
	repeated bool
	vain     int
}

func newRounds(w *waves) *rounds {
	goals := len(w.sim.Goals.Goals)
	return &rounds{problem: w.problem, sim: w.sim, account: w.account, waves: w, order: &order{problem: w.problem, sim: w.sim, account: w.account},
		triedIn: make([]int32, len(w.sim.Snapshot.Pods)), unmetAttempts: make([]int, goals), begun: make([]bool, goals), fixed: make([]bool, goals),
		rejected: make([]bool, goals)}
}

// unmetGoals lists the unmet goals that the search considers now, by priority.
func (c *rounds) unmetGoals() []int {
	list := c.sim.Goals.UnmetByPriority(c.unmetAttempts)
	if c.onlyFirst {
		return slices.DeleteFunc(list, func(g int) bool { return !c.sim.Goals.First[g] })
	}
	return list
}

// A round must change at least one of minShareOfMoves moves: 0.5 %. The search stops rescanning when a round
// changes less than 0.5 % of the moves. The search also keeps needless moves below that share. In a large cluster,
// the last rounds cost as much as the first round and move few pods. If the plan has at most minShareOfMoves moves,
// one new move is enough for another round.
const minShareOfMoves = 200

// maxVain is the number of landings in a row that a repeated round refuses before it ends. It would change few moves.
const maxVain = 1000

// repeatRounds repeats rounds over all goals, because a move for one goal can make room for another
// goal. repeatRounds stops when the limits allow no more moves for unmet goals, or after a round
// that adds less than 0.5 % of the moves. If only the scope is wider than in the round before, and that
// round was quiet, the first round tries only the pods that the scope refused.
func (c *rounds) repeatRounds(widened bool) {
	defer func() { c.repeated = false }()
	for again := !c.sim.Snapshot.Work.Stopped(); again; widened, c.repeated = false, true {
		_, spent := c.account.Limits.Exhausted()
		if spent && c.spentRound == c.state() {
			return // a round could only reject again what the last round rejected
		}
		if widened && c.quiet {
			for _, pod := range c.outOfScope {
				c.triedIn[pod] = 0
			}
		} else {
			c.round++
		}
		was, version := len(c.waves.moves), c.sim.version
		c.vain, c.outOfScope = 0, c.outOfScope[:0]
		c.moveForGoals(c.unmetGoals())
		added, all := len(c.waves.moves)-was, len(c.waves.moves)
		if spent && !c.onlyFirst && c.sim.version == version {
			c.spentRound = c.state()
		}
		again = added > 0 && added*minShareOfMoves >= all && c.account.allowsMore()
		c.quiet = c.sim.version == version || all > minShareOfMoves && added*minShareOfMoves < all
	}
}

// isVain reports whether a repeated round has refused maxVain landings in a row. A plan with few moves goes on, as
// a round that adds one move to it is followed by another.
func (c *rounds) isVain() bool {
	return c.repeated && c.vain >= maxVain && len(c.waves.moves) > minShareOfMoves
}

// moveForGoals moves pods for each goal, in the order of todo, with turns for namespaces. Goals that wait for the
// next wave come first in the next wave. If the limits allow few more evictions, goals that have moves and wait
// come before goals without moves: to meet some goals is better than to improve each by one move. A goal that needs
// more evictions than the limits allow keeps none.
func (c *rounds) moveForGoals(todo []int) {
	for len(todo) > 0 && !c.sim.Snapshot.Work.Stopped() && !c.isVain() {
		var later []int
		kept, turns := limits.Kept{}, c.newTurns(todo)
		for g, ok := turns.next(); ok && !c.isVain(); g, ok = turns.next() {
			if c.waves.current.InFlight.Full() {
				later = append(append(later, g), turns.left()...)
				break
			}
			if c.leavesRoomForOthers(g, &kept, turns) || c.moveForGoal(g) {
				later = append(later, g)
				n := goal.MovesLeft(c.sim.Goals, g, c.problem.PodsOf(g))
				if goal.HasMoves(c.sim.Goals, g) && limits.Allow(c.account.Limits, c.account.StrategyOf(g), n) {
					kept.Add(c.account.StrategyOf(g), n)
				}
				turns.keep(g, n)
			}
		}
		if todo = later; len(todo) > 0 {
			for _, m := range c.waves.closeWave() {
				if !slices.Contains(todo, m.goal) {
					todo = append(todo, m.goal)
				}
			}
		}
	}
}

// leavesRoomForOthers reports whether goal g has no moves and needs several, and the limits allow no more evictions
// than other goals keep. A goal that one move meets is worth the eviction as much as the last move of another goal,
// if that is not a goal of a namespace with fewer evictions.
func (c *rounds) leavesRoomForOthers(g int, kept *limits.Kept, turns *turns) bool {
	return kept.LeaveNone(c.account.Limits, c.account.StrategyOf(g)) && !goal.HasMoves(c.sim.Goals, g) &&
		(turns.keptForOthers(goal.Namespace(c.sim.Goals, g)) || goal.MovesLeft(c.sim.Goals, g, c.problem.PodsOf(g)) > 1)
}

// moveForGoal moves pods for goal g until g is met or no candidate joins. The result is true if g waits for the next
// wave.
func (c *rounds) moveForGoal(g int) (waits bool) {
	if c.sim.Snapshot.Work.Spend(1 + len(c.problem.PodsOf(g))) {
		return false
	}
	c.begun[g] = true
	c.rejectUnknownUsage(g)
	for first := true; c.sim.Goals.Excess(g) > 0; first = false {
		if reason, spent := c.account.exhausted(g); spent {
			c.rejectSpent(g, reason)
			return false
		}
		if first && rejectFixed(c, g) {
			return false
		}
		switch c.joinBestCandidate(g) {
		case Refused:
			return false
		case Later:
			return true
		}
	}
	return false
}

// rejectFixed reports whether no pod of goal g may ever leave, and then records why, without a search. The checks of
// guards and budgets are made once per pod.
func rejectFixed(c *rounds, g int) bool {
	strategy := c.account.StrategyOf(g)
	for _, id := range c.problem.PodsOf(g) {
		if c.fixed[g] {
			break
		}
		if c.sim.NodeOf(id) == cluster.NoNode {
			continue
		}
		if _, no := c.account.Eligibility.RefuseFor(strategy, id); !no {
			return false
		}
	}
	c.fixed[g] = true
	for _, id := range c.problem.PodsOf(g) {
		if from := c.sim.NodeOf(id); from != cluster.NoNode && c.sim.Goals.CouldImprove(g, id, from) {
			reason, _ := c.account.Eligibility.RefuseFor(strategy, id)
			c.account.reject(id, g, reason)
		}
	}
	return true
}

// joinBestCandidate tries the candidates of goal g, best first, until one joins the wave. If the wave has no room for
// a candidate, a later one may join instead; see standsFor.
func (c *rounds) joinBestCandidate(g int) Verdict {
	var waits *candidate
	all := c.candidates(g)
	for i := range all {
		cand := &all[i]
		if waits != nil && !cand.standsFor(waits) {
			if cand.group != waits.group {
				break
			}
			continue
		}
		a, reason := c.tryCandidate(cand.pod, g)
		switch {
		case a == Admitted:
			c.rejectLocalEndpoints(all[i+1:], g)
			return Admitted
		case a == Later && waits == nil:
			waits = cand
		case a == Refused && waits != nil:
			c.triedIn[cand.pod] = 0 // the pod was tried only as a substitute; it may be tried again in this round
		case a == Refused && reason.Code != "":
			c.account.reject(cand.pod, g, reason)
		}
	}
	if waits != nil {
		return Later
	}
	return Refused
}

// tryCandidate adds the pod to the current wave if the pod may be evicted and its landing is acceptable. The reason
// is empty if the pod may still join later, in the next wave or with hints.
func (c *rounds) tryCandidate(pod cluster.PodID, g int) (Verdict, plan.Reason) {
	m := c.waves.moveFor(pod, g)
	if reason, no := c.account.Refuse(m); no {
		return Refused, reason
	}
	if reason, no := c.sim.LimitReached(); no {
		return Refused, reason
	}
	a, reason := c.waves.join(m, g)
	if a != Refused {
		c.vain = 0
		return a, plan.Reason{}
	}
	if c.vain++; reason.Code == "" {
		c.outOfScope = append(c.outOfScope, pod)
	}
	c.triedIn[pod] = c.triedMark(g)
	if !c.waves.current.mayHint && c.sim.Options.Steers() && hintsMayHelp(reason.Code) {
		reason = plan.Reason{}
	}
	return Refused, reason
}

// triedMark is the mark in triedIn of pods whose landing the search rejected in this round for the strategy of goal
// g.
func (c *rounds) triedMark(g int) int32 {
	if c.account.strategyOfGoal == nil {
		return c.round
	}
	return c.round*int32(len(c.sim.Options.Strategies)+1) + int32(c.account.strategyOfGoal[g]+1)
}
