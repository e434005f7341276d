package search

import "github.com/evenkeel-project/evenkeel/plan"

// ListedGoals marks the goals that the plan lists. These are the unmet requested goals. Of goals about single pods, a
// strategy may state one for each pod of the cluster, so the plan lists only those that a move improves and, of each
// strategy, the first others up to the option SamplesPerCode.
func (c *Search) ListedGoals() []bool {
	out, others := make([]bool, len(c.Goals.Goals)), map[string]int{}
	for i := range c.Moves {
		for _, g := range c.Moves[i].Landing.ImprovedGoals {
			out[g] = true
		}
	}
	for i := range out {
		g := &c.Goals.Goals[i]
		switch {
		case g.ID == "":
			out[i] = false
		case g.Kind != plan.PodAway:
			out[i] = true
		case !out[i] && (c.Options.SamplesPerCode < 0 || others[g.Strategy] < c.Options.SamplesPerCode):
			others[g.Strategy]++
			out[i] = true
		}
	}
	return out
}
