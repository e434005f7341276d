package search

// finalPass adds single moves until no further single move helps, or until it has no predictions left. Without
// finalPass, the next plan would find these moves: an attempt stops when a round adds less than 0.5 % of the moves,
// and later moves can make room for a pod rejected earlier. FinalPassGoals then lists the unmet goals whose pods
// finalPass tried again at the end, worst first. The prediction limit may shorten this list. For other unmet goals, a
// further move may still help.
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
			c.moveForGoals(todo)
		}
		if len(c.Moves) == was {
			c.closeWave()
			if _, spent := c.PredictionLimitReached(); !spent {
				c.FinalPassGoals = todo // otherwise some pods may not have been tried again
			}
			return
		}
	}
}

// affordableGoals returns the unmet goals whose pods can all be predicted within effort predictions, worst goal
// first. If limits are exhausted, affordableGoals returns nil.
func (c *goalSearch) affordableGoals(effort int) []int {
	if _, spent := c.Limits.Exhausted(); spent {
		return nil
	}
	todo, left := c.Goals.UnmetByPriority(c.unmetAttempts), effort-*c.predictions
	for i, g := range todo {
		if left -= len(c.PodsOf(g)); left < 0 {
			return todo[:i]
		}
	}
	return todo
}
