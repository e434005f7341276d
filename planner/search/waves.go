package search

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// waves holds the moves so far, wave by wave.
type waves struct {
	problem *Problem
	sim     *Simulation // the cluster after the moves
	account *Account
	current *Wave
	moves   []WaveStep         // of closed waves and the current one
	moved   []bool             // by pod
	hinted  [][]cluster.NodeID // nodes hinted in each closed wave
	scope   scope
	// unlikely has, by pod, the number of moves of its workload, plus 1, when its landing was refused as isUnlikely; 0
	// if it was not. movesOf has the number of moves now.
	unlikely []int
	movesOf  map[cluster.WorkloadID]int
}

// moveFor returns the move of a pod for goal g.
func (c *waves) moveFor(pod cluster.PodID, g int) Move {
	return c.sim.MoveOf(pod, c.account.StrategyOf(g))
}

// join adds a move for goal g to the current wave if the wave admits it.
func (c *waves) join(move Move, g int) (Verdict, plan.Reason) {
	w := c.current
	m, a, reason := w.Admit(move, func(m *Step) (Verdict, plan.Reason) {
		if m.goal = g; c.scope < anyGoal && !c.sim.Goals.InStatedOrder(g) && !c.sim.Goals.ImprovesAll(m.Pod, m.From, m.Landing.To) {
			return Refused, plan.Reason{} // a later scope may accept it
		}
		return c.attribute(m)
	})
	switch a {
	case NoRoom:
		return Refused, w.noRoomReason(move.Pod)
	case Refused:
		if c.isUnlikely(&m.Landing) {
			c.unlikely[m.Pod] = c.movesOf[c.workload(m.Pod)] + 1
		}
		return a, reason
	case Later:
		return a, reason
	}
	if len(m.Landing.Hinted) > len(w.hinted) && len(w.steps) > 0 {
		if !c.addHints(append(slices.Clone(w.steps), m), m.Landing.Hinted) {
			return Later, plan.Reason{}
		}
		c.record(w.steps[len(w.steps)-1])
		return Admitted, plan.Reason{}
	}
	w.hinted = m.Landing.Hinted
	SetHints(w.states(), w.hinted)
	c.recordBenefit(&m)
	c.add(m)
	return Admitted, plan.Reason{}
}

// farBelow is the distance to minConfidence at which a refused landing is unlikely to be accepted later.
const farBelow = 0.05

// isUnlikely reports whether a landing has a confidence far below minConfidence as the mean over many samples. Moves of
// other workloads change few samples, so the search does not try the pod again until a pod of its workload moves. In
// BenchmarkPlanScale, 11,370 landings with less than 0.8 were tried again without a success. The final pass tries all,
// and hints could change landings. In clusters up to maxNodesToRepeat, a single move that comes only in the final pass
// would make steps of two moves possible that no part of the search looks for any more.
func (c *waves) isUnlikely(l *Landing) bool {
	return len(c.sim.Snapshot.Nodes) > maxNodesToRepeat && !c.sim.Options.Steers() && l.predicted != nil && l.predicted.Gone.SampleSize > 0 &&
		l.Confidence < c.sim.Options.MinConfidence-farBelow
}

// staysUnlikely reports whether isUnlikely still holds for the landing that was refused last.
func (c *waves) staysUnlikely(pod cluster.PodID) bool {
	return c.unlikely[pod] == c.movesOf[c.workload(pod)]+1
}

func (c *waves) workload(pod cluster.PodID) cluster.WorkloadID {
	return c.sim.Snapshot.Pods[pod].Workload
}

// add makes a move that the current wave admits.
func (c *waves) add(m Step) {
	c.current.Join(m)
	c.record(m)
}

func (c *waves) record(m Step) {
	c.moves = append(c.moves, WaveStep{m, c.current.number})
	c.moved[m.Pod] = true
	c.movesOf[c.workload(m.Pod)]++
	c.account.Charge(m.Move)
	c.account.Rejections.Remove(m.Pod)
}

// closeWave ends the current wave and begins the next. It returns the moves that dropUncertain removed.
func (c *waves) closeWave() (dropped []Step) {
	w := c.current
	if len(w.steps) == 0 {
		return nil
	}
	dropped = c.dropUncertain()
	from := len(c.moves) - len(w.steps)
	for i, m := range w.steps {
		c.moves[from+i].Step = m // later hints may have changed its landing
	}
	c.hinted = append(c.hinted, w.hinted)
	w.close()
	return dropped
}

// openWave starts a wave with a number above those of the moves so far.
func (c *waves) openWave() {
	clear(c.unlikely)
	gone, last := c.problem.newConsumed(), 0
	for _, m := range c.moves {
		gone.Add(c.account.Eligibility, m.Pod)
		last = m.Wave
	}
	c.current.begin(gone, last+1)
}

// undoLast undoes the last move, whose wave is closed.
func (c *waves) undoLast() {
	n := len(c.moves) - 1
	m := c.moves[n]
	c.sim.Undo(m.Step)
	c.current.undoClosed(m.Step)
	c.account.Refund(m.Move)
	c.moved[m.Pod] = false
	c.moves = c.moves[:n:n]
	if n == 0 || c.moves[n-1].Wave < m.Wave {
		c.hinted = c.hinted[: m.Wave-1 : m.Wave-1]
	}
}

// dropLast undoes needless moves at the end of the list. No other move depends on the last moves.
func (c *waves) dropLast() {
	for n := len(c.moves) - 1; n >= 0 && c.isNeedless(n); n-- {
		c.undoLast()
	}
}

func (c *waves) countNeedless() (count int) {
	for i := range c.moves {
		if c.isNeedless(i) {
			count++
		}
	}
	return count
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

// attribute chooses the strategy for which a pod moves, and the goal that it improves most: of the strategies whose
// goals the landing improves, and whose rules and limits allow the move.
func (c *waves) attribute(m *Step) (Verdict, plan.Reason) {
	if c.account.strategyOfGoal == nil {
		return Admitted, plan.Reason{}
	}
	var why plan.Reason
	allowed := slices.DeleteFunc(slices.Clone(m.Landing.ImprovedGoals), func(g int) bool {
		reason, no := c.account.Limits.RefuseFor(c.account.strategyOfGoal[g], m.Pod)
		why = cmp.Or(why, reason)
		return no
	})
	if len(allowed) == 0 {
		return Refused, why
	}
	m.goal = c.sim.Goals.MostImproved(m.Pod, m.From, allowed)
	m.Strategy = c.account.strategyOfGoal[m.goal]
	return Admitted, plan.Reason{}
}
