package search

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// If no single move helps and goals are unmet, the search looks for steps of two moves. First pod q leaves node t,
// which improves no goal. Then pod p lands on t, which improves a goal. Each of the two moves is safe by itself:
//
//	wave k     q leaves t    its replacement harms no goal wherever it is likely to land
//	wave k+1   p leaves h    its replacement is predicted on t, after q has left t
//
// If the second move fails, the first move has cost one eviction but has harmed no goal. The two moves are a swap if
// q lands on h. The search ignores steps of three moves, because each further pod multiplies the number of
// combinations.

// displacementMinBenefit is the least benefit per eviction of a step, as a share of the node's total. A step of two
// evictions must lower a node's excess by 1 % of its total, or improve a group goal. The share does not depend on the
// initial excess, so the next plan values the same step equally. For single moves, the minimum is minBenefit.
const displacementMinBenefit = 0.005

// displacementSearch looks for steps of two moves.
type displacementSearch struct {
	problem  *Problem
	sim      *Simulation
	account  *Account
	waves    *waves
	rounds   *rounds
	tries    int
	strategy int // of the goal for which it looks for steps
	// landings caches the predicted landing of the replacement of each displaced pod. nil means that no landing is
	// acceptable.
	landings map[cluster.PodID]*Landing
}

// These constants limit the search for steps. The search for steps may try one fortieth of the predictions so far, or
// displacementPredictions divided by the number of nodes if that is more. A prediction costs more in larger clusters.
// The result is capped at maxTries: 10,000 tries on up to 200 nodes, and 4,000 tries on 500 nodes. With fewer tries,
// the next plan would find steps that this plan missed.
const (
	displacementPredictions = 2_000_000
	displacementShare       = 40
	maxTries                = 10_000
	maxCandidates           = 8 // pods per goal for which others may make room
	maxTargets              = 8 // nodes per pod, least missing room first
	maxDisplaceable         = 4 // pods per node that may make room
	displacementRounds      = 8 // repetitions of steps followed by single moves
)

// best returns the first of these steps in the order of evictions, by the pod with the higher priority. Values count as
// equal as those of candidates do.
func best(steps []displacement) displacement {
	most := slices.MaxFunc(steps, func(a, b displacement) int { return cmp.Compare(a.value, b.value) }).value
	steps = slices.DeleteFunc(steps, func(a displacement) bool { return a.value != most && a.value <= equalBenefits*most })
	return slices.MinFunc(steps, func(a, b displacement) int {
		return cmp.Or(a.order.Compare(b.order), cmp.Compare(b.value, a.value), cmp.Compare(a.pod, b.pod), cmp.Compare(a.target, b.target),
			cmp.Compare(a.displaced, b.displaced))
	})
}

// displacementMoves adds steps of two moves, and the single moves that these steps make possible, and drops needless
// moves. displacementMoves reports whether the moves have changed.
func (c *rounds) displacementMoves() (some bool) {
	if c.sim.Snapshot.Work.Stopped() || !c.countUnmet() || !slices.ContainsFunc(c.sim.Goals.UnmetByPriority(c.unmetAttempts), c.account.allowsStep) {
		return false
	}
	before := c.waves.currentResult()
	m := &displacementSearch{problem: c.problem, sim: c.sim, account: c.account, waves: c.waves, rounds: c, tries: min(maxTries,
		max(displacementPredictions/max(1, len(c.sim.Snapshot.Nodes)), *c.sim.predictions/displacementShare))}
	c.waves.current.mayHint, c.waves.scope = false, anyGoal
	c.waves.openWave()
	for range displacementRounds {
		if !m.addSteps() {
			break
		}
		some = true
		if len(c.sim.Snapshot.Nodes) <= maxNodesToRepeat {
			c.waves.closeWave()
			c.repeatRounds(false)
		}
	}
	c.waves.closeWave()
	c.dropNeedlessDisplacements()
	if c.waves.worseThan(before) || c.waves.hasUnpairedDisplacement() {
		c.restore(before)
		return false
	}
	return some || len(c.waves.moves) < len(before.moves)
}

// maxNodesToRepeat is the largest cluster in which the search tries single moves again after steps. In larger
// clusters, repeating the single moves doubles the search time and finds few moves.
const maxNodesToRepeat = 200

// addSteps looks for steps for each unmet goal, by priority, and reports whether it added any step.
func (m *displacementSearch) addSteps() (some bool) {
	for _, g := range m.sim.Goals.UnmetByPriority(m.rounds.unmetAttempts) {
		for m.sim.Goals.Excess(g) > 0 && m.tries > 0 && m.account.allowsStep(g) && !m.rounds.fixed[g] && !m.sim.Snapshot.Work.Stopped() {
			best, found := m.bestStep(g)
			if !found || !m.joinStep(best) {
				break
			}
			some = true
		}
	}
	return some
}

// bestStep predicts steps for goal g and returns the step with the highest value.
func (m *displacementSearch) bestStep(g int) (displacement, bool) {
	var steps []displacement
	m.landings, m.strategy = map[cluster.PodID]*Landing{}, m.account.StrategyOf(g)
	for _, p := range m.candidatesFor(g) {
		for _, o := range m.openings(p) {
			if m.tries <= 0 || m.sim.Snapshot.Work.Stopped() {
				break
			}
			if a, ok := m.predictStep(o, g); ok {
				steps = append(steps, a)
			}
		}
	}
	if len(steps) == 0 {
		return displacement{}, false
	}
	return best(steps), true
}

// candidatesFor returns at most maxCandidates evictable pods whose eviction could improve goal g.
func (m *displacementSearch) candidatesFor(g int) []cluster.PodID {
	m.rounds.round++ // a new round, so that pods tried before are candidates again
	var out []cluster.PodID
	for _, cand := range m.rounds.candidates(g) {
		if len(out) == maxCandidates {
			break
		}
		if _, no := m.account.Refuse(m.sim.MoveOf(cand.pod, m.strategy)); !no {
			out = append(out, cand.pod)
		}
	}
	return out
}

// predictStep predicts both moves of a step. The result is true if both landings are acceptable and the second move
// is worth two evictions.
func (m *displacementSearch) predictStep(o opening, g int) (displacement, bool) {
	q := m.displacedLanding(o.displaced)
	if q == nil || m.leavesGroup(g, o.displaced, q.To) || !m.limitsAllowBoth(o.displaced, o.pod) {
		return displacement{}, false
	}
	first := Step{Move: Move{o.displaced, MakeRoom, m.strategy}, From: o.target, Landing: *q}
	value := -m.sim.Goals.ExcessChange(o.displaced, o.target, q.To)
	from := m.sim.Model.Cluster.NodeOf(o.pod)
	m.sim.Apply(first)
	m.tries--
	l, _, ok := m.sim.Predict(m.sim.MoveOf(o.pod, m.strategy))
	ok = ok && l.To == o.target && len(m.account.GoalsOfStrategy(m.strategy, l.ImprovedGoals)) > 0 && m.worthTwoEvictions(o.pod, from, l)
	if ok {
		value -= m.sim.Goals.ExcessChange(o.pod, from, l.To)
	}
	m.sim.Undo(first)
	order, other := m.rounds.order.orderOf(&m.sim.Snapshot.Pods[o.displaced]), m.rounds.order.orderOf(&m.sim.Snapshot.Pods[o.pod])
	if other.Compare(order) > 0 {
		order = other
	}
	return displacement{o.displaced, o.pod, o.target, g, l.ImprovedGoals, value, order}, ok
}

// leavesGroup reports whether a pod of the group of goal g lands where the goal does not count it.
func (m *displacementSearch) leavesGroup(g int, pod cluster.PodID, to cluster.NodeID) bool {
	return !m.sim.Goals.Measures[g].CountsLanding(to) && slices.Contains(m.sim.Goals.Goals[g].Pods, pod)
}

// worthTwoEvictions reports whether the second move of a step has enough benefit for two evictions.
func (m *displacementSearch) worthTwoEvictions(p cluster.PodID, from cluster.NodeID, l Landing) bool {
	return slices.ContainsFunc(l.ImprovedGoals, func(g int) bool {
		b, ok := m.sim.Goals.Measures[g].(*goal.NodeMeasure)
		return !ok || float64(b.Excess()-b.ExcessAfter(p, from, l.To)) >= 2*displacementMinBenefit*float64(b.Total)
	})
}

// displacedLanding returns the predicted landing of the replacement of displaced pod q, or nil if no landing is
// acceptable. The result is cached during one call of bestStep.
func (m *displacementSearch) displacedLanding(q cluster.PodID) *Landing {
	l, known := m.landings[q]
	if !known {
		m.tries--
		if x, _, ok := m.sim.Predict(Move{q, MakeRoom, m.strategy}); ok {
			l = &x
		}
		m.landings[q] = l
	}
	return l
}

// limitsAllowBoth reports whether p may leave after q has left. The caller has checked that q may leave.
func (m *displacementSearch) limitsAllowBoth(q, p cluster.PodID) bool {
	first := Move{q, MakeRoom, m.strategy}
	m.account.Charge(first)
	defer m.account.Refund(first)
	_, no := m.account.Refuse(m.sim.MoveOf(p, m.strategy))
	return !no
}

// joinStep makes a step: q leaves in the current or the next wave, and p in the wave after that. If one of the moves
// does not join, joinStep undoes the step and returns false.
func (m *displacementSearch) joinStep(a displacement) bool {
	c := m.waves
	if len(c.current.hinted) > 0 || !c.joinAsLast(a) {
		c.closeWave()
		if !c.joinAsLast(a) {
			return false
		}
	}
	if joins, _ := c.join(c.moveFor(a.pod, a.goal), a.goal); joins == Admitted {
		if c.moves[len(c.moves)-1].Landing.To == a.target {
			return true
		}
		c.closeWave()
		c.undoLast()
	}
	c.undoLast()
	c.openWave()
	return false
}

// joinAsLast adds the first move of a step to the current wave and closes the wave. The result is
// false if the move does not join, or if the wave drops it.
func (c *waves) joinAsLast(a displacement) bool {
	return c.joinDisplaced(a) && !slices.ContainsFunc(c.closeWave(), func(m Step) bool { return m.Pod == a.displaced })
}
