package search

// finalPass continues until no further single move helps, or the predictions are used up. Without it, the
// next plan would find these moves. An attempt stops when a round adds less than 0.5 % of the moves. Later
// moves can also make room for a pod rejected earlier. finalPass records in FinalPassGoals the unmet goals of
// which it tried every pod again at the end, worst first. The prediction limit may shorten this list. For
// other unmet goals, the plan does not claim that no further move helps.
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

// affordableGoals returns the unmet goals, worst first, of which all pods can be predicted within effort
// predictions. affordableGoals returns none if limits are exhausted.
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
