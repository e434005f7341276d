package search

import "slices"

// dropNeedless takes back every move without which all goals stand as well at
// the end as with it: one large pod chosen late can make an earlier one needless.
// The others are then made again, in waves, since their landings may have
// depended on it.
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

// dropLast takes back needless moves at the end, on which no other depends.
func (c *Search) dropLast() {
	for n := len(c.Moves) - 1; n >= 0 && c.needlessAt(n); n-- {
		m := c.Moves[n]
		c.Undo(m.Step)
		c.wave.start.Undo(m.Step)
		c.dropMove()
	}
}

// rejoin makes the moves that one more wave has room for, and returns the rest.
// A move that not even an empty wave can hold is refused.
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
				continue // the other half is judged by itself
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

// isDisplacement reports whether a move makes room for the next one, which it always stands
// right before.
func (c *Search) isDisplacement(i int) bool {
	return c.Moves[i].Displaced != nil && i+1 < len(c.Moves) && c.Moves[i+1].Pod == c.Moves[i].Displaced.Pod
}

// needlessAt reports whether a move is needless: the first half of a step when the other
// is, or is not made.
func (c *Search) needlessAt(i int) bool {
	switch {
	case c.isDisplacement(i):
		return c.needless(c.Moves[i+1].Step)
	case c.Moves[i].Displaced != nil:
		return true
	}
	return c.needless(c.Moves[i].Step)
}

// dropNeedlessDisplacements takes back steps and single moves that later ones have made needless. The
// others are made again, and where that ends farther from a goal or takes more
// evictions all stays as it was.
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

// hasUnpairedDisplacement reports whether a first half is without the other.
func (c *Search) hasUnpairedDisplacement() bool {
	for i := range c.Moves {
		if c.Moves[i].Displaced != nil && !c.isDisplacement(i) {
			return true
		}
	}
	return false
}

// dropMove takes the last move out of the list.
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

// rejoinDisplaced makes the first half of a step again. The other half is for the next
// wave; without this one it is judged by itself.
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
