package planner

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// StrategyInfo is an enabled strategy, due or not.
type StrategyInfo struct {
	Name string
	// Needs says in words what there must be for it to state a goal.
	Needs string
	// ByLoad are the resources of which it needs to know the use; empty: none.
	ByLoad []string
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
		out[i].Due = out[i].Due || !g.Constraint || g.WaitReason != ""
		if g.WaitReason != "" {
			waits(&out[i], g, nodes)
		}
	}
	for i, info := range c.p.opts.Strategies {
		if out[i].Goals == 0 {
			out[i].NoData = c.unknown(info)
		}
	}
	return out
}

// unknown says what a strategy by load would have to know and does not; empty when it
// knows enough. All of its resources count: whoever cannot tell how full disks are
// must not fill a node with what leaves another for its cpu.
func (c *search) unknown(info StrategyInfo) string {
	l, scope := c.s.Usage, c.p.opts.Guards.Scope
	switch {
	case len(info.ByLoad) == 0:
		return ""
	case len(l.Resources()) == 0:
		return silence(l)
	}
	for _, r := range info.ByLoad {
		if a := c.s.Amounts(cluster.Measure{ByUsage: true, Resource: r}, scope.Usage); !a.CoverageSufficient(scope) {
			known, all := a.Coverage(scope)
			return fmt.Sprintf("too little is known: use of %s is known of %d of %d nodes in scope", r, known, all)
		}
	}
	return ""
}

// silence says why nothing is known of what is used.
func silence(l *cluster.ResolvedUsage) string {
	switch {
	case l == nil:
		return "nothing is known: the snapshot holds no usage"
	case l.Raw.SampledAt.IsZero():
		return "nothing is known: " + sourceName(l.Raw) + " gave no answer"
	}
	return "nothing is known: the last answer of " + sourceName(l.Raw) + " is too old, or says nothing of use"
}

// hintsUnknown says why none of the rules of hints could judge any node; empty where one
// could, or there are none.
func (c *search) hintsUnknown() string {
	rules, l := c.p.opts.HintRules.Rules, c.s.Usage
	if len(rules) == 0 {
		return ""
	}
	if l == nil {
		return silence(l)
	}
	for _, r := range rules {
		if slices.ContainsFunc(l.Raw.Nodes, func(n cluster.NodeUsage) bool { _, known := n.Used[r.Resource]; return known }) {
			return ""
		}
	}
	return silence(l)
}

// waits counts a goal for which nothing is moved yet, by node.
func waits(st *plan.StrategyState, g plan.Goal, nodes map[string]map[string]bool) {
	known := nodes[g.Strategy]
	if known == nil {
		known = map[string]bool{}
		nodes[g.Strategy] = known
		st.WaitReason = g.WaitReason
	}
	known[g.Subject.Name] = true
	if st.WaitingNodes = len(known); st.WaitReason != g.WaitReason {
		st.WaitReason = ""
	}
}

// strategiesInput names the strategies that state no goal, with what they need.
// Nothing to want is not the same as everything as wanted.
func (c *search) strategiesInput(age string) plan.Input {
	in := plan.Input{Source: "strategies", Age: age, Coverage: 1, Problems: []string{}}
	stated := c.strategies()
	if len(stated) == 0 && !c.p.opts.HintsNodes {
		in.Problems = append(in.Problems, "the configuration has no strategy")
	}
	if c.s.Usage == nil && c.hintsUnknown() != "" {
		in.Problems = append(in.Problems, "the rules of hints can judge no node: "+c.hintsUnknown())
	}
	for i, info := range c.p.opts.Strategies {
		if stated[i].Goals == 0 {
			in.Problems = append(in.Problems, fmt.Sprintf("strategy %s states no goal: it needs %s", info.Name, info.Needs))
		}
	}
	return in
}
