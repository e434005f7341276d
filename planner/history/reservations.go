// Package history keeps what is remembered between passes: which evictions are
// reserved and which took place, which workloads rest, and what is forgotten
// when.
//
// It decides how long an eviction counts, how long a workload rests, and when it
// is given up. It never changes the state that it is given, never reads a clock,
// and never stores anything: package memory does.
package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Options are the settings of the ledger.
type Options struct {
	// Initial is how long a workload rests after its first bad landing. Each
	// further one doubles it, up to Max.
	Initial, Max time.Duration
}

// hour is how long an eviction counts. Evictions are kept by minute, so that
// each counts up to a minute longer, never less.
const (
	hour   = time.Hour
	minute = time.Minute
)

// WorkloadOf names the workload whose pod a move evicts; a pod of none stands
// for itself.
func WorkloadOf(m plan.Move) plan.ObjectRef {
	w := plan.ObjectRef{APIVersion: m.Owner.APIVersion, Kind: m.Owner.Kind, Namespace: m.Pod.Namespace, Name: m.Owner.Name}
	if w.Name == "" {
		w = plan.ObjectRef{APIVersion: "v1", Kind: "Pod", Namespace: m.Pod.Namespace, Name: m.Pod.Name}
	}
	return w
}

// Reserve notes evictions that may be asked for from now on: they count as if
// they had taken place until Settle says that they did not. Moves that are
// reserved already are left as they are. The same pod in another step is another
// eviction: a pass that plans once more may try a pod again whose first one was refused.
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
		w := WorkloadOf(m)
		open.Reservations = append(open.Reservations, plan.Reservation{
			Step: m.Step, Wave: m.Wave, Pod: m.Pod, Workload: w, From: m.From, To: m.To, Strategy: m.Strategy, Reason: m.Reason, At: now.UTC(),
		})
		st.Evictions = addEvictions(st.Evictions, w, now, 1)
	}
	slices.SortFunc(open.Reservations, func(a, b plan.Reservation) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Pod.UID, b.Pod.UID))
	})
	return st
}

// RecordOutcomes notes what became of reserved evictions. Those that did not take place
// no longer count; workloads whose pods did not settle rest. It returns the
// back-offs that are at their longest now: those workloads are given up until
// then, and people should be told why.
func RecordOutcomes(st plan.PlannerState, runID string, outcomes []plan.Outcome, now time.Time, o Options) (plan.PlannerState, []plan.Backoff) {
	st.Runs = slices.Clone(st.Runs)
	i := slices.IndexFunc(st.Runs, func(r plan.OpenRun) bool { return r.RunID == runID })
	if i < 0 {
		return st, nil
	}
	open := &st.Runs[i]
	open.Reservations = slices.Clone(open.Reservations)
	var settled []plan.Reservation
	for j := range open.Reservations {
		r := &open.Reservations[j]
		k := slices.IndexFunc(outcomes, func(o plan.Outcome) bool { return o.Pod.UID == r.Pod.UID && o.Step == r.Step })
		if r.Outcome != nil || k < 0 {
			continue
		}
		out := outcomes[k]
		r.Outcome = &out
		if !tookPlace(out) {
			st.Evictions = addEvictions(st.Evictions, r.Workload, r.At, -1)
		}
		settled = append(settled, *r)
	}
	return updateBackoffs(st, settled, now, o)
}

// CloseRun forgets a pass that has been reported.
func CloseRun(st plan.PlannerState, runID string) plan.PlannerState {
	st.Runs = slices.DeleteFunc(slices.Clone(st.Runs), func(r plan.OpenRun) bool { return r.RunID == runID })
	return st
}

// Expire forgets what no longer matters: evictions after an hour, rests as long
// after their end as the longest rest lasts, pauses that are over.
func Expire(st plan.PlannerState, now time.Time, o Options) plan.PlannerState {
	st.Evictions = slices.DeleteFunc(slices.Clone(st.Evictions), func(e plan.EvictionCount) bool { return !withinHour(e, now) })
	st.Backoffs = slices.DeleteFunc(slices.Clone(st.Backoffs), func(b plan.Backoff) bool { return !now.Before(b.Until.Add(o.Max)) })
	var spent map[string]time.Time
	for name, until := range st.SpentBudgets {
		if now.Before(until) {
			if spent == nil {
				spent = map[string]time.Time{}
			}
			spent[name] = until
		}
	}
	st.SpentBudgets = spent
	if st.Pause != nil && !st.Pause.Until.IsZero() && !now.Before(st.Pause.Until) {
		st.Pause = nil
	}
	return st
}

// tookPlace reports whether an eviction counts: also where that is not known.
func tookPlace(o plan.Outcome) bool {
	return o.Outcome == plan.Evicted || o.Outcome == plan.UnknownOutcome
}

func withinHour(e plan.EvictionCount, now time.Time) bool {
	return now.Before(e.Minute.Add(hour + minute))
}

// addEvictions adds n to the evictions of a workload in a minute; entries at 0 go.
func addEvictions(list []plan.EvictionCount, w plan.ObjectRef, at time.Time, n int) []plan.EvictionCount {
	entry := plan.EvictionCount{Workload: w, Minute: at.UTC().Truncate(minute)}
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
	return cmp.Or(compareWorkloads(a.Workload, b.Workload), a.Minute.Compare(b.Minute))
}

// compareWorkloads orders workloads.
func compareWorkloads(a, b plan.ObjectRef) int { return a.Compare(b) }

// PartialPlan is as much of the plan of a pass as its reservations tell.
func PartialPlan(run plan.OpenRun) plan.Plan {
	p := plan.Plan{
		APIVersion: plan.APIVersion, Kind: "Plan", TakenAt: run.Started, Expires: run.Started, Moves: []plan.Move{}, Goals: []plan.Goal{},
		Strategies: []plan.StrategyState{}, Inputs: []plan.Input{},
		Rejections: plan.Rejections{Counts: map[plan.Code]int{}, Samples: []plan.Rejection{}},
		Bound:      plan.Bound{ResidualByGoal: map[string]float64{}, BlockedBy: []plan.Blocker{}},
	}
	for _, s := range [...]*plan.State{&p.Before, &p.After} {
		*s = plan.State{Nodes: []plan.NodeState{}, Utilization: map[string]plan.Distribution{}, Excess: map[string]float64{}, Workloads: []plan.WorkloadState{}}
	}
	for _, r := range run.Reservations {
		owner := r.Workload
		owner.Namespace = ""
		p.Moves = append(p.Moves, plan.Move{
			Pod: r.Pod, Owner: owner, Goals: []string{}, From: r.From, To: r.To, Strategy: r.Strategy, Step: r.Step, Wave: r.Wave, Steer: "none", Reason: r.Reason,
		})
	}
	p.ID = plan.ContentID(p)
	return p
}
