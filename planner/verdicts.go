package planner

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/history"
)

// verdicts answers, once per pod, whether it may leave at all: guards, a workload
// that does not rest, a placement that can be predicted, and budgets that allow
// at least one.
type verdicts struct {
	s     *cluster.Snapshot
	st    plan.PlannerState
	opts  *Options
	now   time.Time
	world *placement.ClusterModel
	book  *budget.Tracker
	known []verdict // by pod
	guard *guard.Cache
	// spare is, by workload, how many of its pods may be away without a budget, and
	// one more; 0: not known yet.
	spare []int
	// reasons are those of pods that are refused.
	reasons map[cluster.PodID]plan.Reason
}

// verdict is what is known of a pod.
type verdict struct {
	judged, refused, ranked bool
	rank                    int8
}

func newVerdicts(s *cluster.Snapshot, w *placement.ClusterModel, st plan.PlannerState, opts *Options, now time.Time) *verdicts {
	return &verdicts{s, st, opts, now, w, budget.NewTracker(s, st.SpentBudgets, now), make([]verdict, len(s.Pods)), guard.NewCache(), make([]int, len(s.Workloads)), map[cluster.PodID]plan.Reason{}}
}

func (v *verdicts) of(pod cluster.PodID) (plan.Reason, bool) {
	known := &v.known[pod]
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

func (v *verdicts) judge(pod cluster.PodID) (plan.Reason, bool) {
	p := &v.s.Pods[pod]
	if r, refused := guard.Check(v.input(p)); refused {
		return r, true
	}
	if r, rests := v.resting(p); rests {
		return r, true
	}
	if why, ok := v.world.Supported(pod); !ok {
		return plan.Reason{Code: plan.PlacementUnknown, Message: why}, true
	}
	return v.overBudget(p)
}

// resting says that the pod's workload rests, since when, until when, and why; or that
// the pod may just have come in place of one that was evicted: whatever moves loads to and
// fro meanwhile, nobody's replica is moved on at every pass.
func (v *verdicts) resting(p *cluster.Pod) (plan.Reason, bool) {
	if r, came := v.justCame(p); came {
		return r, true
	}
	if len(v.st.Backoffs) == 0 {
		return plan.Reason{}, false
	}
	w := workloadRef(v.s, p)
	b, rests := history.ActiveBackoff(v.st, w, v.now)
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

func (v *verdicts) justCame(p *cluster.Pod) (plan.Reason, bool) {
	start := p.Object.Status.StartTime
	if start == nil || len(v.st.Evictions) == 0 || v.now.Sub(start.Time) >= v.opts.Stay || !history.MayBeReplacement(v.st, workloadRef(v.s, p), start.Time) {
		return plan.Reason{}, false
	}
	return plan.Reason{Code: plan.BackedOff, Message: fmt.Sprintf("it started %s ago, after a pod of its workload had been evicted, and may be its replacement; such a pod stays for %s (evictor.backoff.initial)",
		v.now.Sub(start.Time).Round(time.Second), v.opts.Stay)}, true
}

func (v *verdicts) input(p *cluster.Pod) guard.Input {
	return guard.Input{Snapshot: v.s, Pod: p, Now: v.now, Options: &v.opts.Guards, Cache: v.guard}
}

// overBudget says why the budget that covers the pod does not let it go: its
// PodDisruptionBudget, or else the limit per workload.
func (v *verdicts) overBudget(p *cluster.Pod) (plan.Reason, bool) {
	if len(p.Budgets) > 0 {
		r, ok := v.book.Allows(p, budget.Charges{})
		return r, !ok
	}
	if v.allowed(p) < 1 {
		r, _ := v.withoutPDB(p)
		return r, true
	}
	return plan.Reason{}, false
}

// notAfter is when a window closes that is open now; see guard.AllowedUntil.
func (v *verdicts) notAfter(p *cluster.Pod) time.Time { return guard.AllowedUntil(v.input(p)) }

// rank orders candidates by what people ask for: -1 goes first, 1 last.
func (v *verdicts) rank(pod cluster.PodID) int {
	known := &v.known[pod]
	if known.ranked {
		return int(known.rank)
	}
	p := &v.s.Pods[pod]
	switch asked := v.guard.Annotations.OfPod(v.s, p, v.opts.Guards.TimeZone); {
	case len(asked.PreferNoEviction) > 0:
		known.rank = 1
	case asked.PreferEviction, p.Node != cluster.NoNode && (v.guard.Annotations.OfNode(v.s, p.Node).DrainFirst || v.opts.Pressure.on(v.s.Nodes[p.Node].Object, v.now)):
		known.rank = -1
	}
	known.ranked = true
	return int(known.rank)
}

// allowed is withoutPDB without the reason, for those who ask often.
func (v *verdicts) allowed(p *cluster.Pod) int {
	if p.Workload == cluster.NoWorkload {
		return 1
	}
	spare := &v.spare[p.Workload]
	if *spare == 0 {
		_, n := v.withoutPDB(p)
		*spare = max(0, n) + 1
	}
	return *spare - 1
}

// withoutPDB is how many pods of the pod's workload may be away, beyond those
// that are, when no PodDisruptionBudget selects it. Below 1 the reason says why.
func (v *verdicts) withoutPDB(p *cluster.Pod) (plan.Reason, int) {
	w := v.s.WorkloadOf(p)
	if w == nil {
		return plan.Reason{}, 1
	}
	want := guard.Desired(w)
	away := max(0, want-guard.AvailableOf(v.s, w, v.now))
	return plan.Reason{Code: plan.WorkloadUnavailable, Message: fmt.Sprintf(
		"%d of %d pods of %s %s are not available; without a PodDisruptionBudget at most %d may be (guards.maxUnavailableWithoutPDB)",
		away, want, w.Kind, w.Name, v.opts.MaxUnavailableWithoutPDB)}, v.opts.MaxUnavailableWithoutPDB - away
}
