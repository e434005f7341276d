package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// join adds the pod to the current wave if the wave admits its move. The pod moves for goal g.
func (c *waveBuilder) join(pod cluster.PodID, g int) (Verdict, plan.Reason) {
	w := c.wave
	m, a, reason := w.Admit(c.MoveOf(pod, c.StrategyOf(g)), func(m *Step) (Verdict, plan.Reason) {
		if m.goal = g; c.scope < anyGoal && !c.Goals.InStatedOrder(g) && !c.Goals.ImprovesAll(pod, m.From, m.Landing.To) {
			return Refused, plan.Reason{} // a later scope may accept it
		}
		return c.attribute(m)
	})
	switch a {
	case NoRoom:
		return Refused, w.noRoomReason(pod)
	case Refused, Later:
		return a, reason
	}
	if len(m.Landing.Hinted) > len(w.hinted) && len(w.steps) > 0 {
		if !c.addHints(append(slices.Clone(w.steps), m), m.Landing.Hinted) {
			return Later, plan.Reason{}
		}
		c.recordMove(w.steps[len(w.steps)-1])
		return Admitted, plan.Reason{}
	}
	w.hinted = m.Landing.Hinted
	SetHints(w.states(), w.hinted)
	c.recordBenefit(&m)
	c.addToWave(m)
	return Admitted, plan.Reason{}
}

// addToWave makes a move that the wave admits.
func (c *waveBuilder) addToWave(m Step) {
	c.Apply(m)
	c.wave.join(m)
	c.recordMove(m)
}

func (c *waveBuilder) recordMove(m Step) {
	c.wave.InFlight.Add(c.Eligibility, m.Pod, m.Strategy)
	c.Moves = append(c.Moves, WaveStep{m, c.wave.number})
	c.Moved[m.Pod] = true
	c.Limits.Add(m.Pod, m.Strategy)
	c.Rejections.Remove(m.Pod)
}

// closeWave ends the current wave and begins the next. The next wave assumes that the replacements of the current
// wave are Ready. closeWave returns the moves that dropUncertain removed.
func (c *waveBuilder) closeWave() (dropped []Step) {
	if len(c.wave.steps) == 0 {
		return nil
	}
	dropped = c.dropUncertain()
	w := c.wave
	SetHints(w.states(), nil)
	from := len(c.Moves) - len(w.steps)
	for i, m := range w.steps {
		c.Moves[from+i].Step = m // later hints may have changed its landing
		w.close(m)
		w.consumed.Add(c.Eligibility, m.Pod)
	}
	c.HintedByWave = append(c.HintedByWave, w.hinted)
	w.begin(w.consumed, w.number+1)
	return dropped
}

// A displacement is a step of two moves: the pod displaced leaves target, then pod lands on target and improves goal.
type displacement struct {
	displaced, pod cluster.PodID
	target         cluster.NodeID
	goal           int
	improvedGoals  []int                 // goals that the move of pod improves
	value          float64               // weighted excess that both moves remove, as a share of the initial excess
	order          cluster.EvictionOrder // of the pod that leaves last
}

// joinDisplaced adds the first move of a step to the current wave, if the wave has room and the landing is
// acceptable.
func (c *waveBuilder) joinDisplaced(a displacement) bool {
	st, joins, _ := c.wave.Admit(Move{a.displaced, MakeRoom, c.StrategyOf(a.goal)}, nil)
	if joins != Admitted {
		return false
	}
	st.goal, st.For = a.goal, DisplacedFor{a.pod, a.target}
	st.Landing.ImprovedGoals, st.Landing.Acceptable = a.improvedGoals, c.AcceptableNodes(st.Move, &st.Landing).Len()
	st.Landing.predicted = nil
	st.MostImproved = c.Goals.MostImproved(a.pod, c.Model.NodeOf(a.pod), c.GoalsOfStrategy(st.Strategy, a.improvedGoals))
	c.addToWave(st)
	return true
}

// dropLastMove undoes the last move, whose wave is closed, and opens a new wave.
func (c *waveBuilder) dropLastMove() {
	m := c.Moves[len(c.Moves)-1]
	c.dropMove()
	c.wave.undoClosed(m.Step)
	c.Undo(m.Step)
	c.openWave()
}

// openWave starts a wave with a number above those of the moves so far.
func (c *waveBuilder) openWave() {
	gone, last := c.newConsumed(), 0
	for _, m := range c.Moves {
		gone.Add(c.Eligibility, m.Pod)
		last = m.Wave
	}
	c.wave.begin(gone, last+1)
}

// dropLast undoes needless moves at the end of the list. No other move depends on the last moves.
func (c *waveBuilder) dropLast() {
	for n := len(c.Moves) - 1; n >= 0 && c.isNeedlessAt(n); n-- {
		m := c.Moves[n]
		c.Undo(m.Step)
		c.wave.undoClosed(m.Step)
		c.dropMove()
	}
}

// scope says which goals a move must improve. The search tries the scopes in order; goals about
// single pods ignore them. One eviction that improves a node goal and a group goal replaces two
// evictions. If the replacement improves only one of the two goals, part of the pod's benefit is
// lost. In 40 random clusters of package quality, this order saves 5 % of the evictions.
type scope int

const (
	nodeAndGroup scope = iota // a node goal, a group goal, and every goal that the eviction could improve
	allGoals                  // every goal that the eviction could improve
	anyGoal                   // at least one goal
	scopes
)

type waveBuilder struct {
	pass
	wave       *Wave
	scope      scope
	nodeBuffer []cluster.NodeID // buffer of countAcceptable
}
