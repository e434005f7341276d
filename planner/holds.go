package planner

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// withEffect numbers the goals, those of strategies that are held as constraints.
func (p *Planner) withEffect(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) []plan.Goal {
	goals = slices.Clone(goals)
	for i := range goals {
		if _, held := history.Held(st, goals[i].Strategy, now, p.opts.Benefit); held {
			goals[i].Constraint, goals[i].WaitReason = true, ""
		}
	}
	return Number(s, goals)
}

// Blocks lists what keeps the plan from being carried out, or a strategy from being
// planned for. Accounts of strategies that the configuration no longer has say
// nothing.
func (c *Search) Blocks() []plan.EvictionBlock {
	var out []plan.EvictionBlock
	if c.PlannerState.Pause.ActiveAt(c.Now) {
		out = append(out, c.PlannerState.Pause.Block())
	}
	if t := c.PlannerState.Breaker; t != nil {
		if r := c.planner.opts.Breaker.Holds(t, c.Snapshot, c.Now); r != nil {
			out = append(out, plan.EvictionBlock{Reason: *r, Since: t.At, Until: t.Until})
		}
	}
	for _, h := range history.HeldStrategies(c.PlannerState, c.Now, c.planner.opts.Benefit) {
		if slices.ContainsFunc(c.planner.opts.Strategies, func(i StrategyInfo) bool { return i.Name == h.Strategy }) {
			out = append(out, h)
		}
	}
	return out
}
