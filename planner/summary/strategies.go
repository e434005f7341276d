package summary

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// strategyStates counts the goals of each enabled strategy, and of strategies that occur only in goals.
func strategyStates(c *search.Result) []plan.StrategyState {
	out := []plan.StrategyState{}
	for _, info := range listedStrategies(c) {
		st := plan.StrategyState{Name: info.Name, Settings: info.Settings}
		if info.Mode != plan.Automatic {
			st.Mode = info.Mode
		}
		out = append(out, st)
	}
	nodes := map[string]map[string]bool{} // waiting nodes, by strategy
	for _, g := range statedGoals(c) {
		if g.Kind == plan.NoLowerRank { // nothing violates it, so it says nothing about the cluster
			continue
		}
		i := slices.IndexFunc(out, func(st plan.StrategyState) bool { return st.Name == g.Strategy })
		if i < 0 {
			i = len(out)
			out = append(out, plan.StrategyState{Name: g.Strategy})
		}
		out[i].Goals++
		if g.Excess > 0 {
			out[i].Unmet++
			if g.Kind == plan.NodeEmpty {
				out[i].NodesToEmpty++
			}
		}
		out[i].Due = out[i].Due || !g.Constraint || g.Wait.Code != ""
		if g.Wait.Code != "" && g.Excess > 0 {
			addWaitingGoal(&out[i], g, nodes)
		}
	}
	for i, info := range listedStrategies(c) {
		setStrategyScope(c, info, &out[i])
		if out[i].Goals == 0 && out[i].NothingInScope == "" {
			out[i].NoData = missingUsageReason(c, info)
			out[i].NoViolation = info.Needs == "" && !info.Declared && out[i].NoData == ""
		}
	}
	return out
}

// listedStrategies returns the strategies that the plan describes. A proposal describes those of its mode only.
func listedStrategies(c *search.Result) []eligibility.Strategy {
	if c.Options.Mode == "" || c.Options.Mode == plan.Automatic {
		return c.Options.Strategies
	}
	return slices.DeleteFunc(slices.Clone(c.Options.Strategies), func(s eligibility.Strategy) bool { return !c.Options.MovesFor(&s) })
}

// statedGoals returns the goals that count as stated by the strategies.
func statedGoals(c *search.Result) []plan.Goal {
	if c.Problem.Stated != nil {
		return c.Problem.Stated
	}
	return c.End.Goals.Goals
}

func missingUsageReason(c *search.Result, info eligibility.Strategy) string {
	scope := c.Options.Guards.Scope
	if info.Own != nil {
		scope = info.Own.Scope
	}
	return MissingUsage(c.Snapshot, scope, info.ByLoad)
}

// MissingUsage describes the usage data that a strategy needs and the snapshot lacks, or returns "" if the data
// suffices. The usage of all of the strategy's resources must be known. Otherwise, an eviction for CPU could fill the
// disk of another node.
func MissingUsage(s *cluster.Snapshot, scope cluster.Scope, byLoad []string) string {
	l := s.Usage
	switch {
	case len(byLoad) == 0:
		return ""
	case len(l.Resources()) == 0:
		return noUsageReason(l)
	}
	for _, r := range byLoad {
		if a := s.Amounts(cluster.Measure{ByUsage: true, Resource: r}, scope.Usage); !a.CoverageSufficient(scope) {
			known, all := a.Coverage(scope)
			return fmt.Sprintf("too little usage data: the usage of %s is known for %d of %d nodes in scope", r, known, all)
		}
	}
	return ""
}

func noUsageReason(l *cluster.ResolvedUsage) string {
	switch {
	case l == nil:
		return "no usage data: the snapshot holds none"
	case l.Raw.SampledAt.IsZero():
		return "no usage data: " + sourceName(l.Raw) + " gave no answer"
	}
	return "no usage data: the last answer of " + sourceName(l.Raw) + " is too old, or contains no usage"
}

// hintsWithoutDataReason returns the reason why no hint rule can evaluate any node. If a rule can evaluate a node or
// no rule exists, the result is "".
func hintsWithoutDataReason(c *search.Result) string {
	rules, l := c.Options.HintRules.Rules, c.Snapshot.Usage
	if len(rules) == 0 {
		return ""
	}
	if l == nil {
		return noUsageReason(l)
	}
	for _, r := range rules {
		if slices.ContainsFunc(l.Raw.Nodes, func(n cluster.NodeUsage) bool { _, known := n.Used[r.Resource]; return known }) {
			return ""
		}
	}
	return noUsageReason(l)
}

// addWaitingGoal counts the node of a goal that still waits.
func addWaitingGoal(st *plan.StrategyState, g plan.Goal, nodes map[string]map[string]bool) {
	known := nodes[g.Strategy]
	if known == nil {
		known = map[string]bool{}
		nodes[g.Strategy] = known
		st.WaitReason = g.Wait.Message
	}
	known[g.Subject.Name] = true
	if st.WaitingNodes = len(known); st.WaitReason != g.Wait.Message {
		st.WaitReason = ""
	}
}

// strategiesInput describes the strategies that have no goals although a healthy cluster has some,
// and what each strategy needs to have a goal.
func strategiesInput(c *search.Result, stated []plan.StrategyState, age string) plan.Input {
	in := plan.Input{Source: "strategies", Age: age, Coverage: 1, Problems: []string{}}
	if len(stated) == 0 && !c.Options.HintsNodes {
		in.Problems = append(in.Problems, "the configuration has no strategy")
	}
	if c.Snapshot.Usage == nil && hintsWithoutDataReason(c) != "" {
		in.Problems = append(in.Problems, "the hint rules cannot evaluate any node: "+hintsWithoutDataReason(c))
	}
	for i, info := range listedStrategies(c) {
		if stated[i].Goals == 0 && info.Needs != "" {
			needs := info.Needs
			if own := ownScopeText(info.Settings); own != "" {
				needs += ", all within its own scope: " + own
			}
			in.Problems = append(in.Problems, fmt.Sprintf("strategy %s has no goal: it needs %s", info.Name, needs))
		}
	}
	return in
}
