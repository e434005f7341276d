package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Shown returns a stored plan with everything that a report shows, and what happened to its steps, as far as the object
// has them. The plan of the report is for people; PlanOf returns what may be executed.
func Shown(o *v1alpha1.RebalancePlan) plan.RunReport {
	s, steps := &o.Spec, []int{}
	for i := range s.Moves {
		steps = append(steps, int(s.Moves[i].Step))
	}
	r := ReportOf(o, steps)
	if s.Mode == v1alpha1.ModeDryRun {
		r.Mode = plan.DryRun
	}
	if r.Approval.By == "" {
		r.Approval = nil
	}
	p := &r.Plan
	p.Before, p.After = shownState(&s.Before), shownState(&s.After)
	p.Bound = plan.Bound{MinEvictions: int(s.Minimum.Evictions), MinForPlan: int(s.Minimum.ForPlan), Residual: number(s.Minimum.OutOfReach),
		Unmet: number(s.Minimum.Unmet), ResidualByGoal: map[string]float64{}}
	for _, b := range s.Minimum.BlockedBy {
		p.Bound.BlockedBy = append(p.Bound.BlockedBy, plan.Blocker{Code: plan.Code(b.Code), Detail: b.Message})
	}
	p.Goals = nil
	for i := range s.Goals {
		addGoal(p, &s.Goals[i])
	}
	p.Rejections.Counts = map[plan.Code]int{}
	for _, n := range s.NotMoved {
		p.Rejections.Counts[plan.Code(n.Code)] = int(n.Pods)
		for _, x := range n.Samples {
			p.Rejections.Samples = append(p.Rejections.Samples, plan.Rejection{Pod: podOf(x.Pod), Node: x.Node, Strategy: x.Strategy,
				Reason: plan.Reason{Code: plan.Code(n.Code), Message: x.Message}})
		}
	}
	for _, st := range s.Strategies {
		p.Strategies = append(p.Strategies, plan.StrategyState{Name: st.Name, Mode: strategyModes[st.Mode], Due: st.Due, Goals: int(st.Goals), Unmet: int(st.Unmet)})
	}
	addUnlisted(p, s)
	for _, in := range s.Inputs {
		p.Inputs = append(p.Inputs, plan.Input{Source: in.Source, Statistic: in.Statistic, Age: in.Age, Coverage: fraction(in.CoveragePerMille), Problems: in.Problems})
	}
	for _, n := range s.Notices {
		addNotice(p, n)
	}
	return r
}

// strategyModes are the modes of strategies; that of an automatic one is empty.
var strategyModes = map[v1alpha1.Mode]plan.StrategyMode{v1alpha1.ModeApprove: plan.Approve, v1alpha1.ModeDryRun: plan.ShowOnly}

// addGoal adds a goal with its excess before and after, and with the reason why it stays unmet.
func addGoal(p *plan.Plan, g *v1alpha1.Goal) {
	p.Goals = append(p.Goals, plan.Goal{ID: g.ID, Strategy: g.Strategy, Kind: plan.GoalKind(g.Kind), Subject: objectOf(g.Subject), Group: g.Group,
		Resource: g.Resource, Basis: plan.Basis(g.Basis), TopologyKey: g.TopologyKey, From: g.From, Limit: number(g.Limit), Weight: number(g.Weight),
		Excess: number(g.ExcessBefore)})
	after := number(g.ExcessAfter)
	p.Before.Excess[g.ID], p.After.Excess[g.ID] = number(g.ExcessBefore), after
	switch {
	case g.Unmet == nil:
	case g.Unmet.Code == outOfReach:
		p.Bound.ResidualByGoal[g.ID] = after
	default:
		p.Bound.UnmetGoals = append(p.Bound.UnmetGoals, plan.UnmetGoal{Goal: g.ID, Reason: plan.UnmetReason(g.Unmet.Code), Excess: after, Detail: g.Unmet.Message})
	}
}

// addUnlisted counts the goals that the object does not list: those about single pods, of which it lists the first, and
// those that it omits. A plan has goals of its own strategies only; those of other modes are in its proposals.
func addUnlisted(p *plan.Plan, s *v1alpha1.RebalancePlanSpec) {
	automatic := slices.ContainsFunc(s.Strategies, func(st v1alpha1.StrategySummary) bool { return strategyModes[st.Mode] == "" })
	for i := range s.Strategies {
		st := &s.Strategies[i]
		listed, after, pods, nodes := 0, 0, 0, 0
		for k := range p.Goals {
			g := &p.Goals[k]
			if g.Strategy != st.Name {
				continue
			}
			listed++
			if p.After.Excess[g.ID] > 0 {
				after++
			}
			switch g.Kind {
			case plan.PodAway:
				pods++
			case plan.NodeEmpty:
				nodes++
			}
		}
		unmet, unmetAfter := int(st.Unmet), int(st.UnmetAfter)
		switch {
		case pods > 0:
			p.PodGoals = append(p.PodGoals, plan.PodGoals{Strategy: st.Name, Unmet: unmet, UnmetAfter: unmetAfter, Listed: pods})
		case nodes > 0:
			p.Strategies[i].NodesToEmpty = max(unmet, nodes) // such a strategy has no other goals
		case s.Omitted != nil && s.Omitted.Goals > 0 && st.Due && unmet > listed && (strategyModes[st.Mode] == "" || !automatic):
			p.OmittedGoals = append(p.OmittedGoals, plan.OmittedGoals{Strategy: st.Name, Unmet: unmet - listed, UnmetAfter: min(max(unmetAfter-after, 0), unmet-listed)})
		}
	}
}

// addNotice is the inverse of notices.
func addNotice(p *plan.Plan, n v1alpha1.Notice) {
	i := slices.IndexFunc(p.Strategies, func(st plan.StrategyState) bool { return st.Name == n.Strategy && n.Strategy != "" })
	code := plan.Code(n.Code)
	switch {
	case i >= 0 && code == plan.NoUsageData:
		p.Strategies[i].NoData = n.Message
	case i >= 0 && code == plan.NothingInScope:
		p.Strategies[i].NothingInScope = n.Message
	case i >= 0 && n.Code == strategyWaits:
		_, p.Strategies[i].WaitReason, _ = strings.Cut(n.Message, ": ")
		_, _ = fmt.Sscanf(n.Message, waitsFor, &p.Strategies[i].WaitingNodes) // 0 if others wrote the object
	case n.Code == searchEndedEarly:
		p.SearchLimitReached = n.Message
	case n.Code == hintsWithoutData:
		p.HintsNoData = n.Message
	case n.Code == otherDescheduler:
		var d plan.OtherDescheduler
		if _, err := fmt.Sscanf(n.Message, "%s (%s %s", &d.Program, &d.Kind, &d.Name); err == nil {
			d.Namespace, d.Name, _ = strings.Cut(strings.TrimSuffix(d.Name, ")"), "/")
			p.OtherDeschedulers = append(p.OtherDeschedulers, d)
		}
	case code == plan.UntrustedScheduler && strings.Contains(n.Message, ": ") && len(p.Moves) > 0:
		name, why, _ := strings.Cut(n.Message, ": ")
		p.Schedulers = append(p.Schedulers, plan.SchedulerState{Name: name, Reason: why})
	case n.Strategy == "" && slices.Contains(plan.NothingJudgedCodes(), code):
		p.NothingJudged = append(p.NothingJudged, plan.Reason{Code: code, Message: n.Message})
	case n.Strategy == "":
		p.Blocks = append(p.Blocks, plan.EvictionBlock{Reason: plan.Reason{Code: code, Message: n.Message}})
	}
}

func shownState(s *v1alpha1.ClusterState) plan.State {
	out := plan.State{Utilization: shownDistributions(s.Utilization), Used: shownDistributions(s.Used), Excess: map[string]float64{}}
	for _, n := range s.Nodes {
		out.Nodes = append(out.Nodes, plan.NodeState{Name: n.Name, Zone: n.Zone, Requested: fractions(n.RequestedPerMille), Used: fractions(n.UsedPerMille)})
	}
	for _, w := range s.Workloads {
		x := plan.WorkloadState{Kind: w.Workload.Kind, Namespace: w.Workload.Namespace, Name: w.Workload.Name, Zones: map[string]int{}, Skew: int(w.Skew),
			FailureCategory: int(w.FailureCategory), CategoryCertain: !w.Uncertain}
		for zone, n := range w.Zones {
			x.Zones[zone] = int(n)
		}
		out.Workloads = append(out.Workloads, x)
	}
	if s.ScorePerMille != nil {
		out.Balance = &plan.Balance{Parts: []plan.PartBalance{{Name: plan.BalanceWhole, Uneven: 1 - fraction(*s.ScorePerMille)}}}
	}
	return out
}

func shownDistributions(all []v1alpha1.Distribution) map[string]plan.Distribution {
	if len(all) == 0 {
		return nil
	}
	out := map[string]plan.Distribution{}
	for _, d := range all {
		out[d.Resource] = plan.Distribution{Max: fraction(d.MaxPerMille), Mean: fraction(d.MeanPerMille), StdDev: fraction(d.StdDevPerMille)}
	}
	return out
}

func fractions(perMille map[string]int32) map[string]float64 {
	if len(perMille) == 0 {
		return nil
	}
	out := map[string]float64{}
	for k, v := range perMille {
		out[k] = fraction(v)
	}
	return out
}
