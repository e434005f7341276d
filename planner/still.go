package planner

// settle goes on from where the plan ends until no single further eviction helps: an
// attempt ends while a round still moves one in some hundreds, and a pod that was refused
// early may find a place after the moves of others. Planning again on the predicted
// result would find those; so they are found here. It notes the goals of which every
// pod was tried once more as things stand at the end, worst first as far as the effort
// goes: of no others it is claimed that nothing more helps.
func (c *search) settle() {
	c.still = nil
	c.openWave()
	effort := *c.predictions + c.settleEffort()
	for {
		was := len(c.moves)
		var todo []int
		for _, c.steers = range c.phases() {
			if todo = c.within(effort); len(todo) == 0 {
				break
			}
			c.aim = anyGoal
			c.round++
			c.serveAll(todo)
		}
		if len(c.moves) == was {
			c.closeWave()
			if _, spent := c.spentEffort(); !spent {
				c.still = todo // else some may not have been asked again
			}
			return
		}
	}
}

// settleEffort is how many predictions there may be to settle; see mostAgain.
func (c *search) settleEffort() int {
	most := againEffort / max(1, len(c.s.Nodes))
	if effort := c.p.opts.Effort; effort > 0 {
		most = min(most, effort-*c.predictions)
	}
	return most
}

// openWave begins the wave after those of the moves that there are.
func (c *search) openWave() {
	gone, last := newLost(), 0
	for _, m := range c.moves {
		gone.add(c, m.pod)
		last = m.wave
	}
	c.wave = newWave(c.wave.start, gone, last+1)
}

// within are the unmet goals, worst first, all of whose pods can be foretold before so
// many predictions have been made. There are none where limits let no pod go.
func (c *search) within(effort int) []int {
	if _, spent := c.limits.spent(); spent {
		return nil
	}
	todo, left := c.goals.byNeed(c.stuck), effort-*c.predictions
	for i, g := range todo {
		if left -= len(c.podsOf(g)); left < 0 {
			return todo[:i]
		}
	}
	return todo
}
