package planner

import "slices"

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
