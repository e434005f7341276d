// Package eligibility decides whether a pod may be evicted at all. It checks the guards, the
// back-off of the workload, the PodDisruptionBudgets and the annotations. It never decides whether
// an eviction helps a goal, and never predicts a placement.
package eligibility

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/settings"
	"time"
)

// Checker decides once per pod whether it may be evicted. It checks guards, the back-off of the
// workload, whether the placement can be predicted, and budgets.
type Checker struct {
	snapshot *cluster.Snapshot
	state    plan.PlannerState
	options  *settings.Options
	now      time.Time
	model    *placement.ClusterModel
	Budgets  *budget.Tracker
	results  []podVerdict // by pod
	Guards   *guard.Cache
	// disruptable caches, by workload, DisruptionsAllowed plus one. 0 means unknown.
	disruptable []int
	// reasons holds the reasons of the rejected pods.
	reasons map[cluster.PodID]plan.Reason
}

// podVerdict caches the results of Refuse and Rank for one pod.
type podVerdict struct {
	judged, refused, ranked bool
	rank                    int8
}

// NewChecker returns a Checker for the snapshot and state at the time now.
func NewChecker(s *cluster.Snapshot, w *placement.ClusterModel, st plan.PlannerState, opts *settings.Options, now time.Time) *Checker {
	return &Checker{s, st, opts, now, w, budget.NewTracker(s, st.SpentBudgets, now), make([]podVerdict, len(s.Pods)), guard.NewCache(), make([]int, len(s.Workloads)), map[cluster.PodID]plan.Reason{}}
}

// Refuse returns the reason if the pod may not be evicted. It caches the result.
func (v *Checker) Refuse(pod cluster.PodID) (plan.Reason, bool) {
	known := &v.results[pod]
	if !known.judged {
		var reason plan.Reason
		if reason, known.refused = v.judge(pod); known.refused {
			v.reasons[pod] = reason
		}
		known.judged = true
	}
	if !known.refused {
		return plan.Reason{}, false
	}
	return v.reasons[pod], true
}

func (v *Checker) judge(pod cluster.PodID) (plan.Reason, bool) {
	p := &v.snapshot.Pods[pod]
	if r, refused := guard.Check(v.GuardInput(p)); refused {
		return r, true
	}
	if r, rests := v.BackedOff(p); rests {
		return r, true
	}
	if why, ok := v.model.Supported(pod); !ok {
		return plan.Reason{Code: plan.PlacementUnknown, Message: why}, true
	}
	return v.overBudget(p)
}

// BackedOff returns the reason if the pod's workload is backed off, with start, end and cause. It
// also rejects a pod that may be a recent replacement. Otherwise it could be evicted again in every
// pass.
func (v *Checker) BackedOff(p *cluster.Pod) (plan.Reason, bool) {
	if r, came := v.justStarted(p); came {
		return r, true
	}
	if len(v.state.Backoffs) == 0 {
		return plan.Reason{}, false
	}
	w := history.WorkloadRef(v.snapshot, p)
	b, rests := history.ActiveBackoff(v.state, w, v.now)
	if !rests {
		return plan.Reason{}, false
	}
	passes := "in the last pass"
	if b.Failures > 1 {
		passes = fmt.Sprintf("in %d passes in a row, the last time", b.Failures)
	}
	return plan.Reason{Code: plan.BackedOff, Message: fmt.Sprintf("%s %s rests from %s until %s: its pods did not settle %s for %s: %s",
		w.Kind, w.Name, b.Since.UTC().Format(time.RFC3339), b.Until.UTC().Format(time.RFC3339), passes, b.Reason.Code, b.Reason.Message)}, true
}

func (v *Checker) justStarted(p *cluster.Pod) (plan.Reason, bool) {
	start := p.Object.Status.StartTime
	if start == nil || len(v.state.Evictions) == 0 || v.now.Sub(start.Time) >= v.options.MinReplacementAge || !history.MayBeReplacement(v.state, history.WorkloadRef(v.snapshot, p), start.Time) {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.BackedOff, Message: fmt.Sprintf("it started %s ago, after a pod of its workload had been evicted, and may be its replacement; such a pod stays for %s (evictor.backoff.initial)",
		v.now.Sub(start.Time).Round(time.Second), v.options.MinReplacementAge)}, true
}

// GuardInput returns the input of the guards for the pod.
func (v *Checker) GuardInput(p *cluster.Pod) guard.Input {
	return guard.Input{Snapshot: v.snapshot, Pod: p, Now: v.now, Options: &v.options.Guards, Cache: v.Guards}
}

// overBudget returns the reason if the pod's PodDisruptionBudget blocks the eviction. Without a
// PodDisruptionBudget, the limit per workload decides.
func (v *Checker) overBudget(p *cluster.Pod) (plan.Reason, bool) {
	if len(p.Budgets) > 0 {
		r, ok := v.Budgets.Allows(p, budget.Charges{})
		return r, !ok
	}
	if v.DisruptionsAllowed(p) < 1 {
		r, _ := v.WithoutPDB(p)
		return r, true
	}
	return plan.Reason{}, false
}

// AllowedUntil returns the time when the currently open window closes; see guard.AllowedUntil.
func (v *Checker) AllowedUntil(p *cluster.Pod) time.Time { return guard.AllowedUntil(v.GuardInput(p)) }

// Rank orders candidates by annotations and node pressure: -1 goes first, 1 goes last.
func (v *Checker) Rank(pod cluster.PodID) int {
	known := &v.results[pod]
	if known.ranked {
		return int(known.rank)
	}
	p := &v.snapshot.Pods[pod]
	switch asked := v.Guards.Annotations.OfPod(v.snapshot, p, v.options.Guards.TimeZone); {
	case len(asked.PreferNoEviction) > 0:
		known.rank = 1
	case asked.PreferEviction, p.Node != cluster.NoNode && (v.Guards.Annotations.OfNode(v.snapshot, p.Node).DrainFirst || v.options.Pressure.ActiveOn(v.snapshot.Nodes[p.Node].Object, v.now)):
		known.rank = -1
	}
	known.ranked = true
	return int(known.rank)
}

// DisruptionsAllowed returns the number from WithoutPDB, but at least 0, and caches it by workload.
func (v *Checker) DisruptionsAllowed(p *cluster.Pod) int {
	if p.Workload == cluster.NoWorkload {
		return 1
	}
	spare := &v.disruptable[p.Workload]
	if *spare == 0 {
		_, n := v.WithoutPDB(p)
		*spare = max(0, n) + 1
	}
	return *spare - 1
}

// WithoutPDB returns how many more pods of the workload may be unavailable if no
// PodDisruptionBudget selects the pod. If the number is below 1, the reason explains it.
func (v *Checker) WithoutPDB(p *cluster.Pod) (plan.Reason, int) {
	w := v.snapshot.WorkloadOf(p)
	if w == nil {
		return plan.Reason{}, 1
	}
	want := guard.Desired(w)
	away := max(0, want-guard.AvailableOf(v.snapshot, w, v.now))
	return plan.Reason{Code: plan.WorkloadUnavailable, Message: fmt.Sprintf(
		"%d of %d pods of %s %s are not available; without a PodDisruptionBudget at most %d may be (guards.maxUnavailableWithoutPDB)",
		away, want, w.Kind, w.Name, v.options.MaxUnavailableWithoutPDB)}, v.options.MaxUnavailableWithoutPDB - away
}
