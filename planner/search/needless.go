package search

func (c *waves) countNeedless() (count int) {
	for i := range c.moves {
		if c.isNeedless(i) {
			count++
		}
	}
	return count
}

// isNeedless reports whether the goals are met as well without move i.
func (c *waves) isNeedless(i int) bool { return kinds[c.moves[i].Kind].isNeedless(c, i) }

// dropMove removes the last move from the list without changing the simulation state.
func (c *waves) dropMove() {
	n := len(c.moves) - 1
	m := c.moves[n]
	c.account.Refund(m.Move)
	c.moved[m.Pod] = false
	c.moves = c.moves[:n:n]
	if n == 0 || c.moves[n-1].Wave < m.Wave {
		c.hinted = c.hinted[:m.Wave-1]
	}
}
