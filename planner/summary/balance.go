package summary

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// addBalance sets the balance of the cluster before and after the plan. docs/reference/report.md defines it.
func addBalance(c *search.Result, out *plan.Plan) {
	if c.Options.Mode != "" && c.Options.Mode != plan.Automatic {
		return // a proposal begins in a predicted cluster
	}
	takes := nodesThatTakePods(c)
	measure := func(st *plan.State, judged []judgedGoal) *plan.Balance {
		b := &plan.Balance{}
		add := func(name plan.BalancePart, uneven float64, applies bool) {
			if applies {
				b.Parts = append(b.Parts, plan.PartBalance{Name: name, Uneven: plan.Round(min(1, max(0, uneven)))})
			}
		}
		goals, applies := unevenGoals(judged, judgingStrategies(c, out.Strategies), boundPods(c.Snapshot))
		add(plan.BalanceGoals, goals, applies)
		zones, applies := unevenZones(st.Workloads, zonesOfNodes(st.Nodes, takes))
		add(plan.BalanceZones, zones, applies)
		spread, applies := unevenUtilization(st.Nodes, takes)
		add(plan.BalanceUtilization, spread, applies && !consolidates(c.Options.Strategies))
		return b
	}
	shown := shownGoals(c)
	out.Before.Balance = measure(&out.Before, append(judgedGoals(c.Problem.Start.Goals), judgedGoals(shown)...))
	for _, m := range c.Moves {
		shown.Move(m.Pod, m.From, m.Landing.To)
	}
	out.After.Balance = measure(&out.After, append(judgedGoals(c.End.Goals), judgedGoals(shown)...))
}

// shownGoals follows the goals of the strategies in mode dryRun, which the search ignores.
func shownGoals(c *search.Result) *goal.Tracker {
	var goals []plan.Goal
	for _, g := range c.Problem.Stated {
		if g.Mode == plan.ShowOnly {
			goals = append(goals, g)
		}
	}
	return goal.NewTracker(c.Snapshot, goals)
}

// judgedGoal is a goal with its current excess.
type judgedGoal struct {
	strategy     string
	kind         plan.GoalKind
	limit        float64
	pods         int
	excess       float64
	onlyViolated bool // the strategy states such goals only about violations
}

// judgedGoals returns the goals that count. A node to empty violates nothing, and nothing violates NoLowerRank.
func judgedGoals(t *goal.Tracker) []judgedGoal {
	out := make([]judgedGoal, 0, len(t.Goals))
	for i := range t.Goals {
		switch g := &t.Goals[i]; g.Kind {
		case plan.NodeEmpty, plan.NoLowerRank:
		default:
			out = append(out, judgedGoal{g.Strategy, g.Kind, g.Limit, len(g.Pods), t.ReportedExcess(i),
				g.Kind == plan.PodAway || g.Kind == plan.PodsApart})
		}
	}
	return out
}

// judgingStrategies returns the strategies that judge the cluster: those with goals, and those that found no violation.
func judgingStrategies(c *search.Result, all []plan.StrategyState) (names []string) {
	for _, st := range all {
		packs := slices.ContainsFunc(c.Options.Strategies, func(s eligibility.Strategy) bool { return s.Name == st.Name && s.Packs })
		if !packs && (st.Goals > 0 || st.NoViolation) {
			names = append(names, st.Name)
		}
	}
	return names
}

// unevenGoals returns the average of the strategies. For each, it is the average of its goals, or the share of the pods
// that must leave.
func unevenGoals(goals []judgedGoal, strategies []string, pods int) (uneven float64, applies bool) {
	type sum struct {
		values, leaving float64
		goals           int
	}
	sums := map[string]sum{}
	for _, g := range goals {
		s := sums[g.strategy]
		if g.onlyViolated {
			s.leaving += g.excess
		} else {
			s.values, s.goals = s.values+g.uneven(), s.goals+1
		}
		sums[g.strategy] = s
	}
	for _, name := range strategies {
		s := sums[name]
		uneven += min(1, s.values/float64(max(1, s.goals))+s.leaving/float64(max(1, pods)))
	}
	return uneven / float64(max(1, len(strategies))), len(strategies) > 0
}

// uneven returns 0 for a goal that is met, and otherwise 0.5 to 1 by its share of the largest possible excess.
func (g judgedGoal) uneven() float64 {
	if g.excess <= 0 {
		return 0
	}
	largest := float64(g.pods) - g.limit
	if g.kind == plan.NodeBelow {
		largest = 1 - g.limit
	}
	if largest <= g.excess {
		return 1
	}
	return 0.5 + 0.5*g.excess/largest
}

// unevenZones returns the average of the workloads with two pods or more: the share of pods that the failure of a zone
// takes beyond those that no placement can save.
func unevenZones(workloads []plan.WorkloadState, zones map[string]bool) (uneven float64, applies bool) {
	n := 0
	for _, w := range workloads {
		total, most, domains := 0, 0, len(zones)
		for zone, pods := range w.Zones {
			if total, most = total+pods, max(most, pods); pods > 0 && !zones[zone] {
				domains++
			}
		}
		if len(zones) < 2 || total < 2 || w.Zones[noZone] > 0 {
			continue
		}
		n++
		fewest := (total + domains - 1) / domains
		uneven += float64(most-fewest) / float64(total-fewest)
	}
	return uneven / float64(max(1, n)), n > 0
}

// unevenUtilization returns twice the standard deviation of the requested share of the nodes, averaged over resources.
func unevenUtilization(nodes []plan.NodeState, takes []bool) (uneven float64, applies bool) {
	measured := 0
	for _, r := range reported {
		var shares []float64
		mean := 0.0
		for i := range nodes {
			if share, has := nodes[i].Requested[r]; has && takes[i] {
				shares, mean = append(shares, share), mean+share
			}
		}
		if len(shares) < 2 {
			continue
		}
		mean /= float64(len(shares))
		squares := 0.0
		for _, share := range shares {
			squares += (share - mean) * (share - mean)
		}
		measured++
		uneven += min(1, 2*math.Sqrt(squares/float64(len(shares))))
	}
	return uneven / float64(max(1, measured)), measured > 0
}

// nodesThatTakePods marks, by node, those in scope to which pods may be sent, and without a taint that keeps pods away.
func nodesThatTakePods(c *search.Result) []bool {
	takes := make([]bool, len(c.Snapshot.Nodes))
	for i := range c.Snapshot.Nodes {
		n := &c.Snapshot.Nodes[i]
		takes[i] = c.End.Targets.OfNodes()[i] && c.Options.Guards.Scope.HasNode(n) &&
			!slices.ContainsFunc(n.Object.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
	}
	return takes
}

func zonesOfNodes(nodes []plan.NodeState, takes []bool) map[string]bool {
	zones := map[string]bool{}
	for i := range nodes {
		if takes[i] && nodes[i].Zone != noZone {
			zones[nodes[i].Zone] = true
		}
	}
	return zones
}

func consolidates(all []eligibility.Strategy) bool {
	return slices.ContainsFunc(all, func(s eligibility.Strategy) bool { return s.Packs })
}

func boundPods(s *cluster.Snapshot) (n int) {
	for i := range s.Pods {
		if s.Pods[i].Node != cluster.NoNode && !s.Pods[i].Terminal {
			n++
		}
	}
	return n
}
