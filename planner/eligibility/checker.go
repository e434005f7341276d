// Package eligibility decides whether Evenkeel may evict a pod at all. It checks guards, annotations,
// PodDisruptionBudgets and the backoff of the workload. It never decides whether an eviction helps a
// goal, and it never predicts a placement.
package eligibility

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// Checker decides once per pod whether Evenkeel may evict it. It checks guards, the backoff of the workload,
// budgets, and whether the placement of the replacement can be predicted.
type Checker struct {
	snapshot *cluster.Snapshot
	state    plan.PlannerState
	options  *Options
	now      time.Time
	model    *placement.ClusterModel
	Budgets  *budget.Tracker
	results  []podResult // by pod
	Guards   *guard.Cache
	// disruptable caches, by workload, DisruptionsAllowed plus one. 0 means unknown.
	disruptable       []int
	reasons           map[cluster.PodID]plan.Reason // of the refused pods
	own               map[string]bool               // UIDs of the pods that open runs evict
	background        backgroundCount
	protected         map[guard.Protection]bool // see protectionsWithin
	bars              []strategyBars            // by strategy; nil until the first use
	removed, replaced map[cluster.PodID]bool    // see SetGoals
}

// podResult caches the results of Refuse and Rank for one pod.
type podResult struct {
	checked, refused, ranked bool
	rank                     int8
}

// NewChecker returns a Checker for the snapshot and state at the time now.
func NewChecker(s *cluster.Snapshot, w *placement.ClusterModel, st plan.PlannerState, opts *Options, now time.Time) *Checker {
	guards := guard.NewCache()
	v := &Checker{s, st, opts, now, w, budget.NewTracker(s, st.SpentBudgets, now), make([]podResult, len(s.Pods)),
		guards, make([]int, len(s.Workloads)), map[cluster.PodID]plan.Reason{}, history.EvictedByOpenRuns(st),
		countBackground(st, s, guards.Annotations, now), protectionsWithin(opts), nil, nil, nil}
	v.Budgets.OperatorMoves = func(p *cluster.Pod) bool { return v.RequestOnly(p) != "" }
	return v
}

// Refuse returns the reason if Evenkeel may not evict the pod. It caches the result.
func (v *Checker) Refuse(pod cluster.PodID) (plan.Reason, bool) {
	known := &v.results[pod]
	if !known.checked {
		var reason plan.Reason
		if reason, known.refused = v.findRefusal(pod); known.refused {
			v.reasons[pod] = reason
		}
		known.checked = true
	}
	if !known.refused {
		return plan.Reason{}, false
	}
	return v.reasons[pod], true
}

// Forbid makes Refuse return this reason for the pod.
func (v *Checker) Forbid(pod cluster.PodID, reason plan.Reason) {
	v.results[pod].checked, v.results[pod].refused = true, true
	v.reasons[pod] = reason
}

func (v *Checker) findRefusal(pod cluster.PodID) (plan.Reason, bool) {
	p := &v.snapshot.Pods[pod]
	if r, refused := guard.Check(v.GuardInput(p)); refused {
		return r, true
	}
	if r, refused := v.BackedOff(p); refused || p.Terminal { // no replacement follows an ended pod, and budgets do not count it
		return r, refused
	}
	if r, refused := v.inBackground(p); refused {
		return r, true
	}
	if why, ok := v.model.Supported(pod); !ok {
		return plan.Reason{Code: plan.PlacementUnknown, Message: why}, true
	}
	return v.overBudget(p)
}

// If the pod's workload is in back-off, BackedOff returns the reason. The message contains the start, the end
// and the cause of the back-off. It also refuses a running pod that may be a recent replacement. Otherwise every pass
// could evict the replacement again.
func (v *Checker) BackedOff(p *cluster.Pod) (plan.Reason, bool) {
	if r, recent := v.recentReplacement(p); recent && !p.Terminal {
		return r, true
	}
	if len(v.state.Backoffs) == 0 {
		return plan.Reason{}, false
	}
	w := history.WorkloadOfPod(v.snapshot, p)
	b, active := history.ActiveBackoff(v.state, w, v.now)
	if !active {
		return plan.Reason{}, false
	}
	passes := "the last pass"
	if b.Failures > 1 {
		passes = fmt.Sprintf("the last %d passes", b.Failures)
	}
	return plan.Reason{Code: plan.BackedOff, Message: fmt.Sprintf("%s %s is backed off from %s until %s: %s in %s (%s: %s)",
		w.Kind, w.Name, b.Since.UTC().Format(time.RFC3339), b.Until.UTC().Format(time.RFC3339), b.Cause(), passes, b.Reason.Code, b.Reason.Message)}, true
}

// MayBeReplacement reports whether the pod may be the replacement of a pod that was evicted in the last hour, and
// returns when it started.
func (v *Checker) MayBeReplacement(p *cluster.Pod) (start time.Time, is bool) {
	start, known := p.Started()
	if !known { // the kubelet has not started the pod yet
		start = p.Object.CreationTimestamp.Time
	}
	return start, len(v.state.Evictions) > 0 && history.MayBeReplacement(v.state, history.WorkloadOfPod(v.snapshot, p), start)
}

// recentReplacement returns the reason if the pod may be the replacement of a recently evicted pod.
func (v *Checker) recentReplacement(p *cluster.Pod) (plan.Reason, bool) {
	if len(v.state.Evictions) == 0 {
		return plan.Reason{}, false
	}
	start, is := v.MayBeReplacement(p)
	if !is || v.now.Sub(start) >= v.options.MinReplacementAge {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.BackedOff, Message: fmt.Sprintf(
		"the pod started %s ago and may replace an evicted pod of its workload; a replacement is not evicted for %s (evictor.backoff)",
		v.now.Sub(start).Round(time.Second), v.options.MinReplacementAge)}, true
}

// GuardInput returns the input of the guards for the pod.
func (v *Checker) GuardInput(p *cluster.Pod) guard.Input {
	return guard.Input{Snapshot: v.snapshot, Pod: p, Now: v.now, Options: &v.options.Guards, Cache: v.Guards, OwnEvictions: v.own,
		RemovesEnded: v.removed[p.ID], ReplacesUnready: v.replaced[p.ID]}
}

// overBudget returns the reason if the pod's PodDisruptionBudget blocks the eviction. Without a
// PodDisruptionBudget, it applies guards.maxUnavailableWithoutPDB.
func (v *Checker) overBudget(p *cluster.Pod) (plan.Reason, bool) {
	if len(p.Budgets) > 0 {
		r, ok := v.Budgets.Allows(p, budget.Charges{})
		if r.Code == plan.BlockedByPDB && annotation.IsRequestOnly(p.Object) && v.RequestOnly(p) == "" {
			r.Message += "; its annotation request-evict-only counts in trustedNamespaces only"
		}
		return r, !ok
	}
	if v.DisruptionsAllowed(p) < 1 {
		r, _ := v.AllowanceWithoutPDB(p)
		return r, true
	}
	return plan.Reason{}, false
}

// AllowedUntil calls guard.AllowedUntil for the pod.
func (v *Checker) AllowedUntil(p *cluster.Pod) time.Time { return guard.AllowedUntil(v.GuardInput(p)) }

// Rank orders candidates by annotations and node pressure: the planner tries pods with -1 first and with 1 last.
func (v *Checker) Rank(pod cluster.PodID) int {
	known := &v.results[pod]
	if known.ranked {
		return int(known.rank)
	}
	p := &v.snapshot.Pods[pod]
	switch requests := v.Guards.Annotations.OfPod(v.snapshot, p, v.options.Guards.TimeZone); {
	case len(requests.PreferNoEviction) > 0:
		known.rank = 1
	case requests.PreferEviction, p.Node != cluster.NoNode && (v.Guards.Annotations.OfNode(v.snapshot, p.Node).DrainFirst ||
		v.options.Pressure.ActiveOn(v.snapshot.Nodes[p.Node].Object, v.now)):
		known.rank = -1
	}
	known.ranked = true
	return int(known.rank)
}

// DisruptionsAllowed returns the number from AllowanceWithoutPDB, but at least 0. It caches the number by workload,
// except for the pods that a goal asks to replace.
func (v *Checker) DisruptionsAllowed(p *cluster.Pod) int {
	if p.Workload == cluster.NoWorkload {
		return 1
	}
	if v.replaced[p.ID] {
		_, n := v.AllowanceWithoutPDB(p)
		return max(0, n)
	}
	spare := &v.disruptable[p.Workload]
	if *spare == 0 {
		_, n := v.AllowanceWithoutPDB(p)
		*spare = max(0, n) + 1
	}
	return *spare - 1
}

// AllowanceWithoutPDB returns the number of further pods of the workload that may become unavailable if no
// PodDisruptionBudget selects the pod. If the number is below 1, the reason explains it. If a goal asks to
// replace the pod, only the other pods of the workload count.
func (v *Checker) AllowanceWithoutPDB(p *cluster.Pod) (plan.Reason, int) {
	w := v.snapshot.WorkloadOf(p)
	if w == nil {
		return plan.Reason{}, 1
	}
	desired, others := guard.DesiredReplicas(w), ""
	if v.replaced[p.ID] {
		desired, others = desired-1, "other "
	}
	unavailable, most := max(0, desired-guard.AvailablePods(v.snapshot, w, v.now)), v.options.MaxUnavailableWithoutPDB
	return plan.Reason{Code: plan.WorkloadUnavailable, Message: fmt.Sprintf(
		"%d of %d %spods of %s %s are unavailable; without a PodDisruptionBudget, at most %d may be unavailable (guards.maxUnavailableWithoutPDB)",
		unavailable, desired, others, w.Kind, w.Name, most)}, most - unavailable
}
