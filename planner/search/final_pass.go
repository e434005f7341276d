package search

import "github.com/evenkeel-project/evenkeel/planner/eligibility"

// finalPass goes on from where the plan ends until no single further eviction helps: an
// attempt ends while a round still moves one in some hundreds, and a pod that was refused
// early may find a place after the moves of others. Planning again on the predicted
// result would find those; so they are found here. It notes the goals of which every
// pod was tried once more as things stand at the end, worst first as far as the effort
// goes: of no others it is claimed that nothing more helps.
func (c *Search) finalPass() {
	c.FinalPassGoals = nil
	c.openWave()
	effort := *c.predictions + c.finalPassPredictions()
	for {
		was := len(c.Moves)
		var todo []int
		for _, c.useHints = range c.hintPhases() {
			if todo = c.affordableGoals(effort); len(todo) == 0 {
				break
			}
			c.scope = anyGoal
			c.round++
			c.serveAll(todo)
		}
		if len(c.Moves) == was {
			c.closeWave()
			if _, spent := c.PredictionLimitReached(); !spent {
				c.FinalPassGoals = todo // else some may not have been asked again
			}
			return
		}
	}
}

// finalPassPredictions is how many predictions there may be to settle; see mostAgain.
func (c *Search) finalPassPredictions() int {
	most := repeatPredictions / max(1, len(c.Snapshot.Nodes))
	if effort := c.Options.MaxPredictions; effort > 0 {
		most = min(most, effort-*c.predictions)
	}
	return most
}

// openWave begins the wave after those of the moves that there are.
func (c *Search) openWave() {
	gone, last := eligibility.NewConsumed(), 0
	for _, m := range c.Moves {
		gone.Add(c.Eligibility, m.Pod)
		last = m.Wave
	}
	c.wave = newWave(c.wave.start, gone, last+1)
}

// affordableGoals are the unmet goals, worst first, all of whose pods can be foretold before so
// many predictions have been made. There are none where limits let no pod go.
func (c *Search) affordableGoals(effort int) []int {
	if _, spent := c.Limits.Exhausted(); spent {
		return nil
	}
	todo, left := c.Goals.ByNeed(c.unmetAttempts), effort-*c.predictions
	for i, g := range todo {
		if left -= len(c.PodsOf(g)); left < 0 {
			return todo[:i]
		}
	}
	return todo
}
