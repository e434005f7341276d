package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/limits"
)

// unmetGoals lists the unmet goals that the search considers now, by priority.
func (c *goalSearch) unmetGoals() []int {
	list := c.Goals.UnmetByPriority(c.unmetAttempts)
	if c.onlyFirst {
		return slices.DeleteFunc(list, func(g int) bool { return !c.Goals.First[g] })
	}
	return list
}

// minShareOfMoves is 1 divided by the minimum share of moves that a round must change: 0.5 %. The search stops
// rescanning when a round changes less than 0.5 % of the moves. The search also keeps needless moves below that
// share. In a large cluster, the last rounds cost as much as the first round and move few pods. If the plan has at
// most minShareOfMoves moves, one new move is enough for another round.
const minShareOfMoves = 200

// repeatRounds repeats rounds over all goals, because a move for one goal can make room for another
// goal. repeatRounds stops when the limits allow no more moves for unmet goals, or after a round
// that adds less than 0.5 % of the moves.
func (c *goalSearch) repeatRounds() {
	for again := !c.Snapshot.Work.Stopped(); again; {
		c.round++
		was := len(c.Moves)
		c.moveForGoals(c.unmetGoals())
		again = len(c.Moves) > was && (len(c.Moves)-was)*minShareOfMoves >= len(c.Moves) && limitsAllowMore(&c.pass)
	}
}

// moveForGoals moves pods for each goal, in the order of todo, with turns for namespaces. Goals that wait for the next
// wave come first in the next wave. If the limits allow few more evictions, goals that have moves and wait come before
// goals without moves: to meet some goals is better than to improve each by one move. A goal that needs more evictions
// than the limits allow keeps none.
func (c *goalSearch) moveForGoals(todo []int) {
	for len(todo) > 0 && !c.Snapshot.Work.Stopped() {
		var later []int
		kept, turns := limits.Kept{}, c.newTurns(todo)
		for g, ok := turns.next(); ok; g, ok = turns.next() {
			if c.wave.InFlight.Full() {
				later = append(append(later, g), turns.left()...)
				break
			}
			if c.leavesRoomForOthers(g, &kept, turns) || c.moveForGoal(g) {
				later = append(later, g)
				n := goal.MovesLeft(c.Goals, g, c.PodsOf(g))
				if goal.HasMoves(c.Goals, g) && limits.Allow(c.Limits, c.StrategyOf(g), n) {
					kept.Add(c.StrategyOf(g), n)
				}
				turns.keep(g, n)
			}
		}
		if todo = later; len(todo) > 0 {
			for _, m := range c.closeWave() {
				if !slices.Contains(todo, m.goal) {
					todo = append(todo, m.goal)
				}
			}
		}
	}
}

// leavesRoomForOthers reports whether goal g has no moves and needs several, and the limits allow no more evictions
// than other goals keep. A goal that one move meets is worth the eviction as much as the last move of another goal, if
// that is not a goal of a namespace with fewer evictions.
func (c *goalSearch) leavesRoomForOthers(g int, kept *limits.Kept, turns *turns) bool {
	return kept.LeaveNone(c.Limits, c.StrategyOf(g)) && !goal.HasMoves(c.Goals, g) &&
		(goal.MovesLeft(c.Goals, g, c.PodsOf(g)) > 1 || turns.keptForOthers(goal.Namespace(c.Goals, g)))
}

// moveForGoal moves pods for goal g until g is met or no candidate joins. The result is true if g waits for the next
// wave.
func (c *goalSearch) moveForGoal(g int) (waits bool) {
	if c.Snapshot.Work.Spend(1 + len(c.PodsOf(g))) {
		return false
	}
	c.begun[g] = true
	c.rejectUnknownUsage(g)
	for first := true; c.Goals.Excess(g) > 0; first = false {
		if reason, spent := c.exhausted(g); spent {
			c.rejectAll(g, reason)
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
func rejectFixed(c *goalSearch, g int) bool {
	strategy := c.StrategyOf(g)
	for _, id := range c.PodsOf(g) {
		if c.fixed[g] {
			break
		}
		if c.NodeOf(id) == cluster.NoNode {
			continue
		}
		if _, no := c.Eligibility.RefuseFor(strategy, id); !no {
			return false
		}
	}
	c.fixed[g] = true
	for _, id := range c.PodsOf(g) {
		if from := c.NodeOf(id); from != cluster.NoNode && c.Goals.CouldImprove(g, id, from) {
			reason, _ := c.Eligibility.RefuseFor(strategy, id)
			c.reject(id, g, reason)
		}
	}
	return true
}

// joinBestCandidate tries the candidates of goal g, best first, until one joins the wave. If the wave has no room for
// a candidate, a later one may join instead; see standsFor.
func (c *goalSearch) joinBestCandidate(g int) Verdict {
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
			c.reject(cand.pod, g, reason)
		}
	}
	if waits != nil {
		return Later
	}
	return Refused
}

// tryCandidate adds the pod to the current wave if the pod may be evicted and its landing is acceptable. The reason
// is empty if the pod may still join later, in the next wave or with hints.
func (c *goalSearch) tryCandidate(pod cluster.PodID, g int) (Verdict, plan.Reason) {
	if reason, no := c.Refuse(pod, c.StrategyOf(g)); no {
		return Refused, reason
	}
	if reason, no := c.LimitReached(); no {
		return Refused, reason
	}
	a, reason := c.join(pod, g)
	if a != Refused {
		return a, plan.Reason{}
	}
	c.triedIn[pod] = c.triedMark(g)
	if !c.wave.mayHint && c.Options.Steers() && hintsMayHelp(reason.Code) {
		reason = plan.Reason{}
	}
	return Refused, reason
}
