package eligibility

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/settings"
	"maps"
)

// InFlightCount counts the pods that are in flight.
type InFlightCount struct {
	inFlight settings.InFlight
	Total    int
	node     map[cluster.NodeID]int
	Owner    map[cluster.WorkloadID]int
	budget   budget.Charges
	behind   map[cluster.ServiceID]int // number of Ready pods that each Service has lost
	required guard.EvictionCounts
}

// NewInFlight returns a count of 0 pods in flight. It copies the consumed numbers.
func NewInFlight(f settings.InFlight, gone *Consumed) InFlightCount {
	return InFlightCount{f, 0, map[cluster.NodeID]int{}, map[cluster.WorkloadID]int{}, maps.Clone(gone.Budgets), maps.Clone(gone.Services), maps.Clone(gone.Required)}
}

// Full reports whether the number of pods in flight has reached its limit.
func (w *InFlightCount) Full() bool { return w.Total >= w.inFlight.Total }

// Room reports whether one more pod may be in flight. It uses the budgets of the snapshot plus the
// consumed ones. That is exact, because each wave waits until the replacements of the previous wave
// are Ready.
func (w *InFlightCount) Room(v *Checker, pod cluster.PodID) bool {
	p := &v.snapshot.Pods[pod]
	if w.Full() || w.node[p.Node] >= w.inFlight.PerNode || w.Owner[p.Workload] >= w.inFlight.PerOwner {
		return false
	}
	if _, last := v.lastBehindService(w.behind, p); last {
		return false
	}
	if _, last := v.lastRequired(w.required, pod); last {
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
	w.Total++
	w.node[p.Node]++
	w.Owner[p.Workload]++
	v.Budgets.Charge(p, w.budget)
	v.takeRequired(w.required, pod)
	if p.Ready {
		for _, id := range p.Services {
			w.behind[id]++
		}
	}
}
