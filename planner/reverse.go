package planner

import "slices"

// dropUnneeded takes back every move without which all goals stand as well at
// the end as with it: one large pod chosen late can make an earlier one needless.
func (c *search) dropUnneeded() {
	for i := 0; i < len(c.moves); {
		if m := c.moves[i]; c.needless(m) {
			c.world.Move(m.pod, m.from)
			c.goals.move(m.pod, m.landing.to, m.from)
			c.limits.uncount(m.pod)
			delete(c.moved, m.pod)
			c.moves = slices.Delete(c.moves, i, i+1)
			continue
		}
		i++
	}
}

func (c *search) needless(m step) bool {
	return c.goals.each(m.pod, m.landing.to, m.from, func(i int) bool {
		return c.goals.at[i].with(m.pod, m.landing.to, m.from) <= c.goals.excess(i)
	})
}
