package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// nothingJudged returns the causes why the pass could judge nothing. It returns nil for a plan with moves.
func nothingJudged(c *search.Result, strategies []plan.StrategyState, hintsNoData string) []plan.Reason {
	if len(c.Moves) > 0 {
		return nil
	}
	if len(strategies) == 0 && !c.Options.HintsNodes {
		return []plan.Reason{{Code: plan.NoStrategy, Message: "the configuration has no strategy; add one to strategies"}}
	}
	if r := nothingInScope(c); r.Code != "" {
		return []plan.Reason{r}
	}
	causes := unpredictable(c)
	if noData := withoutUsage(strategies, hintsNoData); noData != "" && (len(causes) > 0 || lackUsage(strategies)) {
		causes = append(causes, plan.Reason{Code: plan.NoUsageData,
			Message: noData + "; check load in the configuration, and the usage source"})
	}
	if !slices.ContainsFunc(strategies, couldStateGoals) {
		for _, st := range strategies {
			if st.NothingInScope != "" {
				causes = append(causes, plan.Reason{Code: plan.NothingInScope, Message: "strategy " + st.Name + ": " + st.NothingInScope})
			}
		}
	}
	return causes
}

// unpredictable returns the causes in the server and the schedulers if no pod could be judged because of them. The pods
// are those that could improve an unmet goal and that the guards let leave.
func unpredictable(c *search.Result) []plan.Reason {
	pods, examples := map[placement.Obstacle]int{}, map[placement.Obstacle]string{}
	seen := map[cluster.PodID]bool{}
	for g := range c.End.Goals.Goals {
		if c.End.Goals.Goals[g].Constraint || c.End.Goals.Excess(g) <= 0 {
			continue
		}
		for _, id := range c.Problem.PodsOf(g) {
			from := c.End.Model.Cluster.NodeOf(id)
			if seen[id] || from == cluster.NoNode || !c.End.Goals.CouldImprove(g, id, from) {
				continue
			}
			seen[id] = c.Account.StrategyOf(g) == limits.NoStrategy // otherwise another strategy may move it
			r, refused := c.Account.Eligibility.RefuseFor(c.Account.StrategyOf(g), id)
			if !refused || isBudget(r.Code) {
				return nil
			}
			if r.Code != plan.PlacementUnknown {
				continue
			}
			by, why := c.End.Model.Obstacle(id)
			if pods[by]++; examples[by] == "" {
				examples[by] = why
			}
		}
	}
	var causes []plan.Reason
	for _, x := range [...]struct {
		by     placement.Obstacle
		code   plan.Code
		remedy string
	}{
		{placement.ServerObstacle, plan.UntrustedServerVersion,
			"let evenkeel run watch enough bindings, or use a version with a model of its own"},
		{placement.SchedulerObstacle, plan.UntrustedScheduler, "see placement.profiles and placement.trust"},
	} {
		if n := pods[x.by]; n > 0 {
			causes = append(causes, plan.Reason{Code: x.code, Message: fmt.Sprintf(
				"no replacement can be predicted, so %s, one of them because %s; %s", stay(n), examples[x.by], x.remedy)})
		}
	}
	return causes
}

// stay says that pods stay.
func stay(pods int) string {
	return plural.Count(pods, "movable pod") + plural.Choose(pods, " stays", " stay")
}

// isBudget reports whether a budget refused the pod. Its replacement could be predicted.
func isBudget(code plan.Code) bool {
	switch code {
	case plan.BlockedByPDB, plan.MultiplePDBs, plan.PDBNotObserved, plan.WorkloadUnavailable:
		return true
	}
	return false
}

// lackUsage reports whether usage data is missing for all strategies that could have stated a goal to meet. Without
// strategies, the hint rules need the data.
func lackUsage(strategies []plan.StrategyState) bool {
	return !slices.ContainsFunc(strategies, couldStateGoals)
}

// couldStateGoals reports whether the strategy could have stated a goal to meet: its scope is not
// empty, it has its usage data, and not all of its goals are constraints.
func couldStateGoals(st plan.StrategyState) bool {
	constraintsOnly := st.Goals > 0 && !st.Due
	return st.NothingInScope == "" && st.NoData == "" && !constraintsOnly
}

// withoutUsage names the strategies and hints that lack usage data, by reason. It returns "" if no data is missing.
func withoutUsage(strategies []plan.StrategyState, hintsNoData string) string {
	var reasons []string
	names := map[string][]string{}
	add := func(why, name string) {
		if why == "" {
			return
		}
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], name)
	}
	for _, st := range strategies {
		add(st.NoData, "strategy "+st.Name)
	}
	add(hintsNoData, "hints")
	var out []string
	for _, why := range reasons {
		out = append(out, strings.Join(names[why], ", ")+": "+why)
	}
	return strings.Join(out, "; ")
}
