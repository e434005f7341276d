// Package history updates the state that passes share: reserved and executed evictions, and the backoffs of workloads.
//
// It decides how long an eviction counts against the hourly limits, how long a backoff lasts, and when state
// expires. Its functions return a new state and never change their argument. The package never reads a clock
// and never stores the state; package controller/state stores it.
package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// MaxBackoff is the longest backoff.
const MaxBackoff = 24 * time.Hour

// Options are the settings of backoffs.
type Options struct {
	// Initial is the backoff of a workload after its first bad landing. Each further bad landing doubles the
	// backoff, up to MaxBackoff.
	Initial time.Duration
	// BackgroundTimeout is how long an eviction counts as in flight after its pass.
	BackgroundTimeout time.Duration
}

// WorkloadOfPod returns the workload of a pod without a UID. For a pod without a workload it returns the pod.
func WorkloadOfPod(s *cluster.Snapshot, p *cluster.Pod) plan.ObjectRef {
	return WorkloadOfMove(plan.Move{Pod: plan.PodRefOf(p), Owner: plan.OwnerRefOf(s, p)})
}

// WorkloadOfMove returns the same as WorkloadOfPod for the pod that a move evicts.
func WorkloadOfMove(m plan.Move) plan.ObjectRef {
	w := plan.ObjectRef{APIVersion: m.Owner.APIVersion, Kind: m.Owner.Kind, Namespace: m.Pod.Namespace, Name: m.Owner.Name}
	if w.Name == "" {
		w = plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: m.Pod.Namespace, Name: m.Pod.Name}
	}
	return w
}

// Reserve adds evictions before the controller requests them. Reserved evictions count as executed until
// RecordOutcomes removes them. Reserve skips moves that are already reserved. The same pod in another step is
// another eviction, because a replan may retry a pod whose first eviction was refused.
func Reserve(st plan.PlannerState, run plan.OpenRun, moves []plan.Move, now time.Time) plan.PlannerState {
	st.Runs = slices.Clone(st.Runs)
	i, known := slices.BinarySearchFunc(st.Runs, run, func(a, b plan.OpenRun) int { return cmp.Compare(a.RunID, b.RunID) })
	if !known {
		run.Reservations = nil
		st.Runs = slices.Insert(st.Runs, i, run)
	}
	open := &st.Runs[i]
	open.Reservations = slices.Clone(open.Reservations)
	for _, m := range moves {
		if slices.ContainsFunc(open.Reservations, func(r plan.Reservation) bool { return r.Pod.UID == m.Pod.UID && r.Step == m.Step }) {
			continue
		}
		w := WorkloadOfMove(m)
		open.Reservations = append(open.Reservations, plan.Reservation{
			Step: m.Step, Wave: m.Wave, Pod: m.Pod, Workload: w, From: m.From, To: m.To, Strategy: m.Strategy, Reason: m.Reason, At: now.UTC(),
			RequestOnly: m.RequestOnly,
		})
		st.Evictions = addEvictions(st.Evictions, w, m.Strategy, now, 1)
	}
	slices.SortFunc(open.Reservations, func(a, b plan.Reservation) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Pod.UID, b.Pod.UID))
	})
	return st
}

// RecordOutcomes adds the outcomes of reserved evictions. It stops counting the evictions that did not happen,
// and it backs off the workloads with a bad landing. It also returns the backoffs that reached Options.Max, for
// the caller to report.
func RecordOutcomes(
	st plan.PlannerState, runID string, outcomes []plan.Outcome, now time.Time, o Options,
) (plan.PlannerState, []plan.Backoff) {
	st.Runs = slices.Clone(st.Runs)
	i := slices.IndexFunc(st.Runs, func(r plan.OpenRun) bool { return r.RunID == runID })
	if i < 0 {
		return st, nil
	}
	open := &st.Runs[i]
	open.Reservations = slices.Clone(open.Reservations)
	var recorded []plan.Reservation
	for j := range open.Reservations {
		r := &open.Reservations[j]
		k := slices.IndexFunc(outcomes, func(o plan.Outcome) bool { return o.Pod.UID == r.Pod.UID && o.Step == r.Step })
		if r.Outcome != nil || k < 0 {
			continue
		}
		out := outcomes[k]
		r.Outcome = &out
		if !countsAsEviction(out) {
			st.Evictions = addEvictions(st.Evictions, r.Workload, r.Strategy, r.At, -1)
		}
		if countsAsEviction(out) && !out.SawReady() && !out.Pending {
			// Whatever became of a request without an answer, an operator may be moving the pod.
			moving := out.Outcome == plan.InProgress || out.Outcome == plan.UnknownOutcome && r.RequestOnly != ""
			st.Background = append(slices.Clone(st.Background), plan.BackgroundEviction{Pod: r.Pod, Workload: r.Workload, From: r.From,
				Since: now.UTC(), Until: now.UTC().Add(o.BackgroundTimeout), AwaitsReplacement: !moving})
		}
		recorded = append(recorded, *r)
	}
	return updateBackoffs(st, recorded, now, o)
}

// CloseRun removes the run of a pass. The caller must have reported the outcomes of the run.
func CloseRun(st plan.PlannerState, runID string) plan.PlannerState {
	st.Runs = slices.DeleteFunc(slices.Clone(st.Runs), func(r plan.OpenRun) bool { return r.RunID == runID })
	return st
}

// Expire removes evictions after an hour, backoffs when MaxBackoff has passed since their end, and the spent
// budgets and pauses whose time is over.
func Expire(st plan.PlannerState, now time.Time) plan.PlannerState {
	st.Evictions = slices.DeleteFunc(slices.Clone(st.Evictions), func(e plan.EvictionCount) bool { return !withinHour(e, now) })
	st.Backoffs = slices.DeleteFunc(slices.Clone(st.Backoffs), func(b plan.Backoff) bool { return !now.Before(b.Until.Add(MaxBackoff)) })
	st.SpentBudgets = maps.Clone(st.SpentBudgets)
	maps.DeleteFunc(st.SpentBudgets, func(_ string, until time.Time) bool { return !now.Before(until) })
	if len(st.SpentBudgets) == 0 {
		st.SpentBudgets = nil
	}
	if !st.Pause.ActiveAt(now) {
		st.Pause = nil
	}
	return st
}

// countsAsEviction reports whether an eviction counts against limits. An eviction with an unknown outcome
// counts, and so does one in the background.
func countsAsEviction(o plan.Outcome) bool {
	return o.Outcome == plan.Evicted || o.Outcome == plan.UnknownOutcome || o.Outcome == plan.InProgress
}

// withinHour reports whether an eviction counts against the hourly limits. The state stores evictions by minute, so
// an eviction may count up to a minute longer than an hour, but never shorter.
func withinHour(e plan.EvictionCount, now time.Time) bool {
	return now.Before(e.Minute.Add(time.Hour + time.Minute))
}

// addEvictions adds n to the evictions of a workload for a strategy in a minute and removes entries that reach 0.
func addEvictions(list []plan.EvictionCount, w plan.ObjectRef, strategy string, at time.Time, n int) []plan.EvictionCount {
	entry := plan.EvictionCount{Workload: w, Minute: at.UTC().Truncate(time.Minute), Strategy: strategy}
	list = slices.Clone(list)
	i, found := slices.BinarySearchFunc(list, entry, compareEvictions)
	if !found {
		list = slices.Insert(list, i, entry)
	}
	if n > 0 && (list[i].First.IsZero() || at.Before(list[i].First)) {
		list[i].First = at.UTC()
	}
	if list[i].Count += n; list[i].Count <= 0 {
		list = slices.Delete(list, i, i+1)
	}
	return list
}

func compareEvictions(a, b plan.EvictionCount) int {
	return cmp.Or(a.Workload.Compare(b.Workload), a.Minute.Compare(b.Minute), cmp.Compare(a.Strategy, b.Strategy))
}

// PartialPlan returns a plan with the moves that the run has reserved. The plan has no goals and no states of nodes.
func PartialPlan(run plan.OpenRun) plan.Plan {
	p := plan.Plan{
		APIVersion: plan.APIVersion, Kind: "Plan", TakenAt: run.Started, Expires: run.Started, Moves: []plan.Move{}, Goals: []plan.Goal{},
		Strategies: []plan.StrategyState{}, Inputs: []plan.Input{},
		Rejections: plan.Rejections{Counts: map[plan.Code]int{}, Samples: []plan.Rejection{}},
		Bound:      plan.Bound{ResidualByGoal: map[string]float64{}, BlockedBy: []plan.Blocker{}},
	}
	for _, s := range [...]*plan.State{&p.Before, &p.After} {
		*s = plan.State{Nodes: []plan.NodeState{}, Utilization: map[string]plan.Distribution{},
			Excess: map[string]float64{}, Workloads: []plan.WorkloadState{}}
	}
	for _, r := range run.Reservations {
		owner := r.Workload
		owner.Namespace = ""
		p.Moves = append(p.Moves, plan.Move{
			Pod: r.Pod, Owner: owner, Goals: []string{}, From: r.From, To: r.To, Strategy: r.Strategy,
			Step: r.Step, Wave: r.Wave, Steer: "none", Reason: r.Reason,
		})
	}
	p.ID = plan.ContentID(p)
	return p
}

// EvictedByOpenRuns returns the UIDs of the pods that open runs have evicted or may have evicted.
func EvictedByOpenRuns(st plan.PlannerState) map[string]bool {
	var out map[string]bool
	for _, run := range st.Runs {
		for _, r := range run.Reservations {
			if r.Outcome != nil && r.Outcome.Outcome != plan.Evicted && r.Outcome.Outcome != plan.UnknownOutcome {
				continue
			}
			if out == nil {
				out = map[string]bool{}
			}
			out[r.Pod.UID] = true
		}
	}
	return out
}
