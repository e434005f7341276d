package planner

import "slices"

// firstHalf reports whether a move makes room for the next one, which it always stands
// right before.
func (c *search) firstHalf(i int) bool {
	return c.moves[i].room != nil && i+1 < len(c.moves) && c.moves[i+1].pod == c.moves[i].room.pod
}

// needlessAt reports whether a move is needless: the first half of a step when the other
// is, or is not made.
func (c *search) needlessAt(i int) bool {
	switch {
	case c.firstHalf(i):
		return c.needless(c.moves[i+1].step)
	case c.moves[i].room != nil:
		return true
	}
	return c.needless(c.moves[i].step)
}

// dropSteps takes back steps and single moves that later ones have made needless. The
// others are made again, and where that ends farther from a goal or takes more
// evictions all stays as it was.
func (c *search) dropSteps() {
	c.dropLast()
	if n := c.countNeedless(); n == 0 || n*worthwhile < len(c.moves) {
		return
	}
	first := c.outcome()
	c.replay()
	c.closeWave()
	c.dropLast()
	if c.worseThan(first) || len(c.moves) >= len(first.moves) || c.halved() {
		c.restore(first)
	}
}

// halved reports whether a first half is without the other.
func (c *search) halved() bool {
	for i := range c.moves {
		if c.moves[i].room != nil && !c.firstHalf(i) {
			return true
		}
	}
	return false
}

// dropMove takes the last move out of the list.
func (c *search) dropMove() {
	n := len(c.moves) - 1
	m := c.moves[n]
	c.limits.uncount(m.pod)
	c.moved[m.pod] = false
	c.moves = c.moves[:n:n]
	if n == 0 || c.moves[n-1].wave < m.wave {
		c.hinted = c.hinted[:m.wave-1]
	}
}

// rejoinAside makes the first half of a step again. The other half is for the next
// wave; without this one it is judged by itself.
func (c *search) rejoinAside(m step) answer {
	a := aside{q: m.pod, p: m.room.pod, t: m.room.on, g: m.goal, served: slices.Clone(m.landing.served)}
	switch {
	case c.joinAside(a):
		return joined
	case c.wave.total > 0:
		return later
	}
	return refused
}
