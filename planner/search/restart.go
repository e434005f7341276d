package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/planner/search/rejections"
)

// rewind resets the current state and the states of the wave to the snapshot, and begins the first wave. All waves are
// closed. The parameter made lists the moves in the current state, in order; it may lack moves of c.Moves that the
// caller has undone there.
func (c *goalSearch) rewind(made []Step) {
	for _, m := range slices.Backward(made) {
		c.Undo(m)
	}
	for _, m := range slices.Backward(c.Moves) {
		c.wave.undoClosed(m.Step)
		c.Limits.Remove(m.Pod, m.Strategy)
		c.Moved[m.Pod] = false
	}
	c.Moves, c.HintedByWave = nil, nil
	c.Rejections.ForgetLimits()
	c.wave.begin(c.newConsumed(), 1)
	c.round++
}

func (c *goalSearch) steps() (out []Step) {
	for _, m := range c.Moves {
		out = append(out, m.Step)
	}
	return out
}

// restore replaces the current moves by those of o, unchanged.
func (c *goalSearch) restore(o attemptResult) {
	c.rewind(c.steps())
	for _, m := range o.moves {
		c.Apply(m.Step)
		c.wave.applyClosed(m.Step)
		c.Moved[m.Pod] = true
		c.Limits.Add(m.Pod, m.Strategy)
	}
	c.Moves, c.HintedByWave, c.Rejections = o.moves, o.hinted, o.rejections
}

// restart undoes all moves and clears all rejections.
func (c *goalSearch) restart() {
	c.rewind(c.steps())
	c.Rejections = rejections.New(len(c.Snapshot.Pods))
}

// dropNeedless removes each move whose removal makes no goal worse. For example, the late move of a large pod can
// make an earlier move needless. dropNeedless then repeats the other moves, because their landings may have depended
// on the removed moves.
func (c *goalSearch) dropNeedless() {
	var needed []Step
	for i := 0; i < len(c.Moves); i++ {
		switch {
		case !c.isNeedlessAt(i):
			needed = append(needed, c.Moves[i].Step)
		case c.isDisplacement(i):
			c.Undo(c.Moves[i+1].Step)
			c.Undo(c.Moves[i].Step)
			i++
		default:
			c.Undo(c.Moves[i].Step)
		}
	}
	c.rewind(needed)
	for len(needed) > 0 {
		needed = c.repeatMoves(needed)
	}
}

// repeatMoves repeats the moves that fit into one more wave, and returns the remaining moves. A move that does not
// fit into an empty wave is dropped.
func (c *goalSearch) repeatMoves(moves []Step) (rest []Step) {
	for i, m := range moves {
		if c.wave.InFlight.Full() {
			rest = append(rest, moves[i:]...)
			break
		}
		if m.Kind == MakeRoom {
			switch c.repeatDisplacedMove(m) {
			case Admitted:
				rest = append(rest, moves[i+1:]...)
			case Later:
				rest = append(rest, moves[i:]...)
			default:
				continue // the loop tries the second move alone
			}
			break
		}
		switch a, reason := c.tryCandidate(m.Pod, m.goal); {
		case a == Later:
			rest = append(rest, m)
		case a == Refused && reason.Code != "":
			c.Rejections.Add(m.Pod, c.Goals.Goals[m.goal].Strategy, reason)
		}
	}
	if len(rest) > 0 {
		rest = append(rest, c.closeWave()...)
	}
	return rest
}

// dropNeedlessDisplacements removes steps and single moves that later moves made needless, and repeats the others. If
// a goal then has more excess, a step is incomplete, or the number of evictions is not lower,
// dropNeedlessDisplacements restores the earlier moves.
func (c *goalSearch) dropNeedlessDisplacements() {
	c.dropLast()
	if n := c.countNeedless(); n == 0 || n*minShareOfMoves < len(c.Moves) {
		return
	}
	first := c.currentResult()
	c.dropNeedless()
	c.closeWave()
	c.dropLast()
	if c.worseThan(first) || len(c.Moves) >= len(first.moves) || c.hasUnpairedDisplacement() {
		c.restore(first)
	}
}

// repeatDisplacedMove repeats the first move of a step. The second move belongs in the next wave. If the first move
// is rejected, the caller tries the second move alone.
func (c *waveBuilder) repeatDisplacedMove(m Step) Verdict {
	a := displacement{displaced: m.Pod, pod: m.For.Pod, target: m.For.On, goal: m.goal,
		improvedGoals: slices.Clone(m.Landing.ImprovedGoals)}
	switch _, spent := c.Limits.RefuseFor(m.Strategy, m.Pod); {
	case spent:
		return Refused
	case c.joinDisplaced(a):
		return Admitted
	case c.wave.InFlight.Total > 0:
		return Later
	}
	return Refused
}
