package planner

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// StrategyInfo is an enabled strategy, due or not.
type StrategyInfo struct {
	Name string
	// Needs says in words what there must be for it to state a goal.
	Needs string
}

// strategies counts the goals of each strategy that is enabled, and of those
// that only the goals name.
func (c *search) strategies() []plan.StrategyState {
	out := []plan.StrategyState{}
	for _, info := range c.p.opts.Strategies {
		out = append(out, plan.StrategyState{Name: info.Name})
	}
	nodes := map[string]map[string]bool{} // those that wait, by strategy
	for _, g := range c.goals.list {
		i := slices.IndexFunc(out, func(st plan.StrategyState) bool { return st.Name == g.Strategy })
		if i < 0 {
			i = len(out)
			out = append(out, plan.StrategyState{Name: g.Strategy})
		}
		out[i].Goals++
		if g.Excess > 0 {
			out[i].Unmet++
		}
		out[i].Asked = out[i].Asked || !g.Constraint || g.Waits != ""
		if g.Waits != "" {
			waits(&out[i], g, nodes)
		}
	}
	return out
}

// waits counts a goal for which nothing is moved yet, by node.
func waits(st *plan.StrategyState, g plan.Goal, nodes map[string]map[string]bool) {
	known := nodes[g.Strategy]
	if known == nil {
		known = map[string]bool{}
		nodes[g.Strategy] = known
		st.Waits = g.Waits
	}
	known[g.Subject.Name] = true
	if st.Waiting = len(known); st.Waits != g.Waits {
		st.Waits = ""
	}
}

// strategiesInput names the strategies that state no goal, with what they need.
// Nothing to want is not the same as everything as wanted.
func (c *search) strategiesInput(age string) plan.Input {
	in := plan.Input{Source: "strategies", Age: age, Coverage: 1, Problems: []string{}}
	stated := c.strategies()
	if len(stated) == 0 {
		in.Problems = append(in.Problems, "the configuration has no strategy")
	}
	for i, info := range c.p.opts.Strategies {
		if stated[i].Goals == 0 {
			in.Problems = append(in.Problems, fmt.Sprintf("strategy %s states no goal: it needs %s", info.Name, info.Needs))
		}
	}
	return in
}
