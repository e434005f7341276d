package search

import "slices"

// dropNeedless removes each move whose removal makes no goal worse: a large pod that moves
// late can make an earlier move needless. It then repeats the other moves, in waves, because
// their landings may have depended on the removed ones.
func (c *Search) dropNeedless() {
	var needed []Step
	for i := 0; i < len(c.Moves); i++ {
		switch {
		case !c.needlessAt(i):
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
		needed = c.rejoin(needed)
	}
}

func (c *Search) countNeedless() (count int) {
	for i := range c.Moves {
		if c.needlessAt(i) {
			count++
		}
	}
	return count
}

func (c *Search) needless(m Step) bool {
	return c.Goals.EachAffected(m.Pod, m.Landing.To, m.From, func(i int) bool {
		return c.Goals.Measures[i].ExcessAfter(m.Pod, m.Landing.To, m.From) <= c.Goals.Excess(i)
	})
}

// dropLast undoes needless moves at the end of the list, on which no other move depends.
func (c *Search) dropLast() {
	for n := len(c.Moves) - 1; n >= 0 && c.needlessAt(n); n-- {
		m := c.Moves[n]
		c.Undo(m.Step)
		c.wave.undoClosed(m.Step)
		c.dropMove()
	}
}

// rejoin repeats the moves for which one more wave has room, and returns the remaining moves.
// It drops a move for which even an empty wave has no room.
func (c *Search) rejoin(moves []Step) (rest []Step) {
	for i, m := range moves {
		if c.wave.Full() {
			rest = append(rest, moves[i:]...)
			break
		}
		if m.Displaced != nil {
			switch c.rejoinDisplaced(m) {
			case joined:
				rest = append(rest, moves[i+1:]...)
			case joinsLater:
				rest = append(rest, moves[i:]...)
			default:
				continue // the loop tries the second move alone
			}
			break
		}
		switch a, reason := c.tryCandidate(m.Pod, m.goal); {
		case a == joinsLater:
			rest = append(rest, m)
		case a == refused && reason.Code != "":
			c.Rejections.add(m.Pod, c.Goals.Goals[m.goal].Strategy, reason)
		}
	}
	if len(rest) > 0 {
		c.closeWave()
	}
	return rest
}

// isDisplacement reports whether move i makes room for move i+1. The first move of a step
// always precedes the second directly.
func (c *Search) isDisplacement(i int) bool {
	return c.Moves[i].Displaced != nil && i+1 < len(c.Moves) && c.Moves[i+1].Pod == c.Moves[i].Displaced.Pod
}

// needlessAt reports whether move i is needless. The first move of a step is needless if the
// second is needless or missing.
func (c *Search) needlessAt(i int) bool {
	switch {
	case c.isDisplacement(i):
		return c.needless(c.Moves[i+1].Step)
	case c.Moves[i].Displaced != nil:
		return true
	}
	return c.needless(c.Moves[i].Step)
}

// dropNeedlessDisplacements removes steps and single moves that later moves made needless,
// and repeats the others. It restores the earlier moves if a goal ends farther from its
// limit, the evictions do not decrease, or a step is incomplete.
func (c *Search) dropNeedlessDisplacements() {
	c.dropLast()
	if n := c.countNeedless(); n == 0 || n*minShareOfMoves < len(c.Moves) {
		return
	}
	first := c.result()
	c.dropNeedless()
	c.closeWave()
	c.dropLast()
	if c.worseThan(first) || len(c.Moves) >= len(first.moves) || c.hasUnpairedDisplacement() {
		c.restore(first)
	}
}

// hasUnpairedDisplacement reports whether the first move of a step is present without the
// second.
func (c *Search) hasUnpairedDisplacement() bool {
	for i := range c.Moves {
		if c.Moves[i].Displaced != nil && !c.isDisplacement(i) {
			return true
		}
	}
	return false
}

// dropMove removes the last move from the list. It does not change the state.
func (c *Search) dropMove() {
	n := len(c.Moves) - 1
	m := c.Moves[n]
	c.Limits.Remove(m.Pod)
	c.Moved[m.Pod] = false
	c.Moves = c.Moves[:n:n]
	if n == 0 || c.Moves[n-1].Wave < m.Wave {
		c.HintedByWave = c.HintedByWave[:m.Wave-1]
	}
}

// rejoinDisplaced repeats the first move of a step. The second belongs in the next wave. If
// the first is rejected, the caller tries the second alone.
func (c *Search) rejoinDisplaced(m Step) joinResult {
	a := displacement{displaced: m.Pod, pod: m.Displaced.Pod, target: m.Displaced.On, goal: m.goal, served: slices.Clone(m.Landing.Served)}
	switch {
	case c.joinDisplaced(a):
		return joined
	case c.wave.Total > 0:
		return joinsLater
	}
	return refused
}
