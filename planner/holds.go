package planner

import (
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// asked numbers the goals, those of strategies that are held as constraints.
func (p *Planner) asked(s *cluster.Snapshot, st plan.PlannerState, goals []plan.Goal, now time.Time) []plan.Goal {
	goals = slices.Clone(goals)
	for i := range goals {
		if _, held := history.Held(st, goals[i].Strategy, now, p.opts.Benefit); held {
			goals[i].Constraint, goals[i].WaitReason = true, ""
		}
	}
	return number(s, goals)
}

// holds lists what keeps the plan from being carried out, or a strategy from being
// planned for. Accounts of strategies that the configuration no longer has say
// nothing.
func (c *search) holds() []plan.EvictionBlock {
	var out []plan.EvictionBlock
	if c.st.Pause.ActiveAt(c.now) {
		out = append(out, c.st.Pause.Block())
	}
	if t := c.st.Breaker; t != nil {
		if r := c.p.opts.Breaker.StaysOpen(t, c.s, c.now); r != nil {
			out = append(out, plan.EvictionBlock{Reason: *r, Since: t.At, Until: t.Until})
		}
	}
	for _, h := range history.HeldStrategies(c.st, c.now, c.p.opts.Benefit) {
		if slices.ContainsFunc(c.p.opts.Strategies, func(i StrategyInfo) bool { return i.Name == h.Strategy }) {
			out = append(out, h)
		}
	}
	return out
}
