package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/goal"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search/rejections"
)

// Account decides whether a move may happen, wherever its replacement lands: by guards, budgets and limits. It counts
// the moves so far, and keeps the reasons why other pods stay.
//
// A strategy may have a scope, guards and limits of its own. A pod moves for one strategy, which must allow the move
// and whose limits count it. For a strategy that may not move the pod, the goals are constraints of the move.
type Account struct {
	Eligibility *eligibility.Checker
	Limits      *limits.Counter
	Rejections  *rejections.Set
	sim         *Simulation // the cluster after the moves
	// strategyOfGoal holds, by goal, the index of its strategy. It is nil if no strategy has rules of its own.
	strategyOfGoal []int
	goals          []plan.Goal // of every turn
}

func newAccount(start *Simulation, st plan.PlannerState, goals []plan.Goal, now time.Time) *Account {
	s, opts := start.Snapshot, start.Options
	a := &Account{Eligibility: eligibility.NewChecker(s, start.Model, st, &opts.Options, now), Rejections: rejections.New(len(s.Pods)), sim: start, goals: goals,
		Limits: limits.NewCounter(s, opts.Limits, history.CountLastHour(st, now), opts.OpenWindowLimits(now)...)}
	a.Eligibility.SetGoals(goals)
	start.Goals.Annotations = a.Eligibility.Guards.Annotations
	for i := range opts.Strategies {
		if name, own := opts.Strategies[i].Name, opts.Strategies[i].Own; own != nil && own.Limits != nil {
			a.Limits.AddStrategy(i, len(opts.Strategies), name, *own.Limits, history.CountLastHourFor(st, name, now))
		}
	}
	start.Goals.SelectsNodes = opts.SelectsNodes()
	if !opts.HasRulesForMoves() {
		return a
	}
	a.strategyOfGoal = make([]int, len(goals))
	for i := range goals {
		a.strategyOfGoal[i] = opts.StrategyIndex(goals[i].Strategy)
	}
	start.Goals.Barred = func(g int, pod cluster.PodID) bool {
		_, barred := a.Eligibility.BarredFor(a.strategyOfGoal[g], pod)
		return barred
	}
	return a
}

// clone returns a copy for the moves of a search that begins with sim.
func (a *Account) clone(sim *Simulation) *Account {
	out := *a
	out.sim, out.Limits, out.Rejections = sim, a.Limits.Clone(), rejections.New(len(sim.Snapshot.Pods))
	return &out
}

// minBenefit is the least benefit of an eviction, as a share of the node's allocatable: 0.05 %. Reports show a
// smaller excess as 0.0 %, and a varying load repeatedly crosses its limit by that little. The minimum does not
// depend on the excess, so the next plan values the same move equally. Moves that improve a group goal need no
// minimum benefit, because a group goal counts whole pods.
const minBenefit = 0.0005

// benefitTooSmall reports whether a pod's eviction would improve goals, but each goal by less than minBenefit.
func (a *Account) benefitTooSmall(pod cluster.PodID) (plan.Reason, bool) {
	from := a.sim.NodeOf(pod)
	var most float64
	var of int
	enough := !a.sim.Goals.EachAffected(pod, from, cluster.NoNode, func(i int) bool {
		removed := a.sim.Goals.Excess(i) - a.sim.Goals.ExcessAfterLeaving(i, pod, from)
		if !a.sim.Goals.Asks(i, pod) || removed <= 0 {
			return true
		}
		b, ok := a.sim.Goals.Measures[i].(*goal.NodeMeasure)
		if !ok {
			return false
		}
		if share := float64(removed) / float64(b.Total); share > most {
			most, of = share, i
		}
		return most < minBenefit
	})
	if enough || most == 0 {
		return plan.Reason{}, false
	}
	share, least := percent.Pair(most, minBenefit)
	return plan.Reason{Code: plan.BenefitTooSmall, Message: fmt.Sprintf(
		"evicting the pod would remove only %s of the %s of %s from the excess; an eviction must remove at least %s",
		share, a.sim.Goals.Goals[of].Resource, a.sim.Snapshot.Nodes[from].Name, least)}, true
}

// Refuse applies all checks of a move that do not depend on the landing, and returns the first reason against it.
func (a *Account) Refuse(m Move) (plan.Reason, bool) {
	if reason, refused := a.Eligibility.RefuseFor(m.Strategy, m.Pod); refused {
		return reason, true
	}
	// The Job's status may not include pods that an earlier plan evicted. Counting an evicted pod twice is safer than
	// ignoring the pod.
	if reason, fails := a.jobFails(m.Pod, a.Limits.PlannedFor(a.sim.Snapshot.Pods[m.Pod].Workload)); fails {
		return reason, true
	}
	if reason, no := a.benefitTooSmall(m.Pod); no {
		return reason, true
	}
	if reason, refused := a.Limits.Refuse(m.Pod); refused {
		return reason, true
	}
	return a.Limits.RefuseFor(m.Strategy, m.Pod)
}

// RefuseAgain applies to a move of a plan, before it is carried out, the checks of Refuse whose result may have
// changed: all but the benefit and the limits of the pass, which the plan keeps. The parameter first is the number of
// pods of its workload that leave before it, and reserved says that the limits count the move already.
func (a *Account) RefuseAgain(m Move, first int, reserved bool) (plan.Reason, bool) {
	if reason, refused := a.Eligibility.RefuseFor(m.Strategy, m.Pod); refused {
		return reason, true
	}
	if reason, fails := a.jobFails(m.Pod, first); fails {
		return reason, true
	}
	if reserved {
		return plan.Reason{}, false
	}
	return a.Limits.RefuseAgain(m.Strategy, m.Pod)
}

// jobFails returns the reason if the pod's Job would fail by its eviction, after the eviction of other pods of the Job.
// A pod that has ended fails no Job again.
func (a *Account) jobFails(pod cluster.PodID, others int) (plan.Reason, bool) {
	p := &a.sim.Snapshot.Pods[pod]
	why, fails := guard.JobFails(a.sim.Snapshot, p, others)
	return plan.Reason{Code: plan.JobWouldFail, Message: why}, fails && !p.Terminal
}

// Charge counts the eviction of a move against the limits.
func (a *Account) Charge(m Move) { a.Limits.Add(m.Pod, m.Strategy) }

// Refund reverses Charge.
func (a *Account) Refund(m Move) { a.Limits.Remove(m.Pod, m.Strategy) }

// StrategyOf returns the index of the strategy of goal g, or limits.NoStrategy if no strategy
// with moves has rules of its own.
func (a *Account) StrategyOf(g int) int {
	if a.strategyOfGoal == nil {
		return limits.NoStrategy
	}
	return a.strategyOfGoal[g]
}

// RequestingStrategies returns the strategies with requested goals, in ascending order. It returns
// nil if no strategy has rules of its own.
func (a *Account) RequestingStrategies() (out []int) {
	for g, strategy := range a.strategyOfGoal {
		if !a.goals[g].Constraint {
			out = append(out, strategy)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isOutOfScope reports whether the reason says only that the pod is not in the scope of one
// strategy. Any other reason is worth more to the reader.
func (a *Account) isOutOfScope(r plan.Reason) bool {
	return a.strategyOfGoal != nil && (r.Code == plan.NamespaceExcluded || r.Code == plan.NodeOutOfScope)
}

// reject records why a pod is not moved for goal g.
func (a *Account) reject(pod cluster.PodID, g int, reason plan.Reason) {
	if a.isOutOfScope(reason) && a.Rejections.Has(pod) {
		return
	}
	a.Rejections.Add(pod, a.sim.Goals.Goals[g].Strategy, reason)
}

// exhausted returns the limit that allows no more moves for goal g.
func (a *Account) exhausted(g int) (plan.Reason, bool) {
	if reason, spent := a.Limits.Exhausted(); spent {
		return reason, true
	}
	return a.Limits.ExhaustedFor(a.StrategyOf(g))
}

// allowsMore reports whether the limits allow another move for an unmet goal. If only one
// strategy has unmet goals, its own limits end the search as those of the pass do.
func (a *Account) allowsMore() bool {
	if _, spent := a.Limits.Exhausted(); spent {
		return false
	}
	if a.strategyOfGoal == nil {
		return true
	}
	for g := range a.sim.Goals.Goals {
		if a.sim.Goals.Goals[g].Constraint || a.sim.Goals.Excess(g) == 0 {
			continue
		}
		if _, spent := a.Limits.ExhaustedFor(a.StrategyOf(g)); !spent {
			return true
		}
	}
	return false
}

// GoalsOfStrategy returns those of the goals that belong to the strategy, or all if no strategy has rules of its own.
func (a *Account) GoalsOfStrategy(strategy int, goals []int) []int {
	if a.strategyOfGoal == nil {
		return goals
	}
	return slices.DeleteFunc(slices.Clone(goals), func(g int) bool { return a.strategyOfGoal[g] != strategy })
}

// allowsStep reports whether the limits allow the two evictions of a step for goal g.
func (a *Account) allowsStep(g int) bool { return limits.Allow(a.Limits, a.StrategyOf(g), 2) }
