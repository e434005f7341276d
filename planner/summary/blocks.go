package summary

import (
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// Blocks returns what blocks all evictions now: a pause or the breaker.
func Blocks(c *search.Search) []plan.EvictionBlock {
	var out []plan.EvictionBlock
	if c.PlannerState.Pause.ActiveAt(c.Now) {
		out = append(out, c.PlannerState.Pause.Block())
	}
	if t := c.PlannerState.Breaker; t != nil {
		if r := c.Options.Breaker.StaysOpen(t, c.Snapshot, c.Now); r != nil {
			out = append(out, plan.EvictionBlock{Reason: *r, Since: t.At, Until: t.Until})
		}
	}
	return out
}
