package planner

import (
	"fmt"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/guard"
)

// verdicts answers, once per pod, whether it may leave at all: guards, a
// placement that can be predicted, and budgets that allow at least one.
type verdicts struct {
	s     *cluster.Snapshot
	st    plan.PlannerState
	opts  *Options
	now   time.Time
	world *placement.World
	known map[cluster.PodID]verdict
}

type verdict struct {
	reason  plan.Reason
	refused bool
}

func newVerdicts(s *cluster.Snapshot, w *placement.World, st plan.PlannerState, opts *Options, now time.Time) *verdicts {
	return &verdicts{s, st, opts, now, w, map[cluster.PodID]verdict{}}
}

func (v *verdicts) of(pod cluster.PodID) (plan.Reason, bool) {
	known, ok := v.known[pod]
	if !ok {
		known.reason, known.refused = v.judge(pod)
		v.known[pod] = known
	}
	return known.reason, known.refused
}

func (v *verdicts) judge(pod cluster.PodID) (plan.Reason, bool) {
	p := &v.s.Pods[pod]
	if r, refused := guard.Check(guard.Input{Snapshot: v.s, Pod: p, Now: v.now, Options: &v.opts.Guards}); refused {
		return r, true
	}
	if why, ok := v.world.Supported(pod); !ok {
		return plan.Reason{Code: plan.PlacementUnknown, Message: why}, true
	}
	if r, allowed := v.allowance(pod); allowed < 1 {
		return r, true
	}
	return plan.Reason{}, false
}

// allowance is how many pods may be away at once, beyond those that are, of the
// budget that covers the pod: its PodDisruptionBudget, or else the limit per
// workload. Below 1 the reason says why.
func (v *verdicts) allowance(pod cluster.PodID) (plan.Reason, int) {
	p := &v.s.Pods[pod]
	switch len(p.Budgets) {
	case 0:
		return v.withoutPDB(p)
	case 1:
		return v.underPDB(&v.s.Budgets[p.Budgets[0]])
	}
	return plan.Reason{Code: plan.SeveralPDBs, Message: fmt.Sprintf(
		"%d PodDisruptionBudgets select the pod; the Eviction API refuses such pods", len(p.Budgets))}, 0
}

func (v *verdicts) underPDB(b *cluster.Budget) (plan.Reason, int) {
	name := b.Object.Namespace + "/" + b.Object.Name
	if b.Object.Status.ObservedGeneration < b.Object.Generation {
		return plan.Reason{Code: plan.PDBNotObserved, Message: "pdb " + name + " was changed and its status is not up to date yet"}, 0
	}
	if until, spent := v.st.SpentBudgets[name]; spent && v.now.Before(until) {
		return plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " may have been spent by an eviction that was refused"}, 0
	}
	n := int(b.Object.Status.DisruptionsAllowed)
	return plan.Reason{Code: plan.BlockedByPDB, Message: fmt.Sprintf("pdb %s allows %d more", name, n)}, n
}

func (v *verdicts) withoutPDB(p *cluster.Pod) (plan.Reason, int) {
	w := v.s.WorkloadOf(p)
	if w == nil {
		return plan.Reason{}, 1
	}
	ready := 0
	for _, id := range w.Pods {
		if q := &v.s.Pods[id]; q.Ready && !q.Terminating {
			ready++
		}
	}
	away := max(0, int(w.Replicas)-ready)
	return plan.Reason{Code: plan.WorkloadUnavailable, Message: fmt.Sprintf(
		"%d of %d pods of %s %s are not available; without a PodDisruptionBudget at most %d may be (guards.maxUnavailableWithoutPDB)",
		away, w.Replicas, w.Kind, w.Name, v.opts.MaxUnavailableWithoutPDB)}, v.opts.MaxUnavailableWithoutPDB - away
}
