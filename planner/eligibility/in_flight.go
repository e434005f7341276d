package eligibility

import (
	"maps"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// InFlightCount counts the evicted pods whose replacements are not Ready yet.
type InFlightCount struct {
	limits   InFlight
	Total    int
	node     map[cluster.NodeID]int
	Owner    map[cluster.WorkloadID]int
	budget   budget.Charges
	evicted  map[cluster.ServiceID]int // Ready pods that each Service has lost
	required guard.EvictionCounts
	quotas   guard.QuotaCharges
}

// NewInFlight returns a count of 0 pods in flight. It copies the consumed numbers.
func NewInFlight(limits InFlight, consumed *Consumed) InFlightCount {
	return InFlightCount{limits, 0, map[cluster.NodeID]int{}, map[cluster.WorkloadID]int{},
		maps.Clone(consumed.Budgets), maps.Clone(consumed.Services), maps.Clone(consumed.Required), guard.QuotaCharges{}}
}

// Full reports whether the number of pods in flight has reached its limit.
func (w *InFlightCount) Full() bool { return w.Total >= w.limits.Total }

// CanAdd reports whether one more pod may be in flight. It charges the consumed
// numbers to the budgets of the snapshot. The result is exact, because a wave starts only when the
// replacements of the previous wave are Ready.
func (w *InFlightCount) CanAdd(v *Checker, pod cluster.PodID) bool {
	p := &v.snapshot.Pods[pod]
	if w.Total+v.background.total >= w.limits.Total {
		return false
	}
	if p.Terminal { // it takes part in no budget, Service or workload
		return true
	}
	if w.node[p.Node]+v.inBackgroundOn(p) >= w.limits.PerNode || w.Owner[p.Workload] >= w.limits.PerOwner {
		return false
	}
	if _, last := v.lastReadyOfService(w.evicted, p); last {
		return false
	}
	if _, last := v.lastRequired(w.required, pod); last {
		return false
	}
	if !v.Guards.HasQuotaRoom(v.snapshot, p, w.quotas) {
		return false
	}
	if len(p.Budgets) > 0 {
		_, allowed := v.Budgets.Allows(p, w.budget)
		return allowed
	}
	return w.Owner[p.Workload] < v.DisruptionsAllowed(p)
}

// Add counts the pod as in flight.
func (w *InFlightCount) Add(v *Checker, pod cluster.PodID) {
	p := &v.snapshot.Pods[pod]
	if p.Terminal {
		w.Total++
		return
	}
	w.Total++
	w.node[p.Node]++
	w.Owner[p.Workload]++
	v.Budgets.Charge(p, w.budget)
	v.recordRequired(w.required, pod)
	v.Guards.ChargeQuotas(v.snapshot, p, w.quotas)
	if p.Ready {
		for _, id := range p.Services {
			w.evicted[id]++
		}
	}
}
