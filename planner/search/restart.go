package search

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/planner/search/rejections"
)

// rewind resets the current state and the states of the wave to the snapshot, and begins the first wave. All waves are
// closed. The parameter made lists the moves in the current state, in order; it may lack moves of waves that the
// caller has undone there.
func (c *rounds) rewind(made []Step) {
	for _, m := range slices.Backward(made) {
		c.sim.Undo(m)
	}
	for _, m := range slices.Backward(c.waves.moves) {
		c.waves.current.undoClosed(m.Step)
		c.account.Refund(m.Move)
		c.waves.moved[m.Pod] = false
	}
	c.waves.moves, c.waves.hinted = nil, nil
	clear(c.waves.unlikely)
	c.account.Rejections.ForgetLimits()
	c.waves.current.begin(c.problem.newConsumed(), 1)
	c.round++
}

func stepsOf(moves []WaveStep) (out []Step) {
	for _, m := range moves {
		out = append(out, m.Step)
	}
	return out
}

// restore replaces the current moves by those of o, unchanged. All waves are closed. The same slice of moves is the
// same state: after moves were undone, undoLast and emptyWave let appends copy the slice. Whoever goes on opens a wave
// and a round.
func (c *rounds) restore(o attemptResult) {
	if now := c.waves.moves; len(now) != len(o.moves) || len(now) > 0 && &now[0] != &o.moves[0] {
		c.rewind(stepsOf(c.waves.moves))
		for _, m := range o.moves {
			c.sim.Apply(m.Step)
			c.waves.current.applyClosed(m.Step)
			c.waves.moved[m.Pod] = true
			c.account.Charge(m.Move)
		}
	}
	c.waves.moves, c.waves.hinted, c.account.Rejections = o.moves, o.hinted, o.rejections
}

// restart undoes all moves and clears all rejections.
func (c *rounds) restart() {
	c.rewind(stepsOf(c.waves.moves))
	c.account.Rejections = rejections.New(len(c.sim.Snapshot.Pods))
}

// dropNeedless removes each move whose removal makes no goal worse. For example, the late move of a large pod can
// make an earlier move needless. dropNeedless then repeats the other moves, because their landings may have depended
// on the removed moves.
func (c *rounds) dropNeedless() {
	var needed []Step
	for i := 0; i < len(c.waves.moves); i++ {
		switch {
		case !c.waves.isNeedless(i):
			needed = append(needed, c.waves.moves[i].Step)
		case c.waves.isDisplacement(i):
			c.sim.Undo(c.waves.moves[i+1].Step)
			c.sim.Undo(c.waves.moves[i].Step)
			i++
		default:
			c.sim.Undo(c.waves.moves[i].Step)
		}
	}
	c.rewind(needed)
	for len(needed) > 0 {
		needed = c.repeatMoves(needed)
	}
}

// repeatMoves repeats the moves that fit into one more wave, and returns the remaining moves. A move that does not
// fit into an empty wave is dropped.
func (c *rounds) repeatMoves(moves []Step) (rest []Step) {
	for i, m := range moves {
		if c.waves.current.InFlight.Full() {
			rest = append(rest, moves[i:]...)
			break
		}
		if m.Kind == MakeRoom {
			switch c.waves.repeat(m) {
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
			c.account.Rejections.Add(m.Pod, c.sim.Goals.Goals[m.goal].Strategy, reason)
		}
	}
	if len(rest) > 0 {
		rest = append(rest, c.waves.closeWave()...)
	}
	return rest
}

// dropNeedlessDisplacements removes steps and single moves that later moves made needless, and repeats the others. If
// a goal then has more excess, a step is incomplete, or the number of evictions is not lower,
// dropNeedlessDisplacements restores the earlier moves.
func (c *rounds) dropNeedlessDisplacements() {
	c.waves.dropLast()
	if n := c.waves.countNeedless(); n == 0 || n*minShareOfMoves < len(c.waves.moves) {
		return
	}
	first := c.waves.currentResult()
	c.dropNeedless()
	c.waves.closeWave()
	c.waves.dropLast()
	if c.waves.worseThan(first) || len(c.waves.moves) >= len(first.moves) || c.waves.hasUnpairedDisplacement() {
		c.restore(first)
	}
}
