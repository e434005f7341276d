package summary

import (
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/planner/settings"
	"slices"
)

// Blocks lists what keeps the plan from being carried out, or a strategy from being
// planned for. Accounts of strategies that the configuration no longer has say
// nothing.
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
	for _, h := range history.HeldStrategies(c.PlannerState, c.Now, c.Options.Benefit) {
		if slices.ContainsFunc(c.Options.Strategies, func(i settings.StrategyInfo) bool { return i.Name == h.Strategy }) {
			out = append(out, h)
		}
	}
	return out
}
