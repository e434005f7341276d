package eligibility

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// Consumed counts the permanent effects of earlier waves. A replacement lacks the labels that a person added to the
// evicted pod. Each Service, budget or required pod affinity that selects by those labels therefore loses one pod.
type Consumed struct {
	Services map[cluster.ServiceID]int
	Budgets  budget.Charges
	Required guard.EvictionCounts
}

// NewConsumed returns a Consumed without evictions.
func NewConsumed() *Consumed {
	return &Consumed{map[cluster.ServiceID]int{}, budget.Charges{}, guard.EvictionCounts{}}
}

// Add records an eviction whose replacement is Ready.
func (l *Consumed) Add(v *Checker, pod cluster.PodID) {
	p := &v.snapshot.Pods[pod]
	if p.Terminal {
		return
	}
	replacement := newReplacementLabels(p)
	v.recordRequired(l.Required, pod)
	if p.Ready {
		for _, id := range p.Services {
			if !v.snapshot.Services[id].Selector.Matches(replacement) {
				l.Services[id]++
			}
		}
	}
	if len(p.Budgets) == 1 && !v.snapshot.Budgets[p.Budgets[0]].Selector.Matches(replacement) {
		v.Budgets.Charge(p, l.Budgets)
	}
}

// Refuse returns the reason if earlier evictions make this eviction impossible.
func (l *Consumed) Refuse(v *Checker, pod cluster.PodID) (plan.Reason, bool) {
	p := &v.snapshot.Pods[pod]
	if id, last := v.lastReadyOfService(l.Services, p); last {
		return plan.Reason{Code: plan.LastReadyPod, Message: fmt.Sprintf(
			"after earlier moves, the pod is the last Ready pod of Service %s: replacements lack the labels that it selects",
			v.snapshot.Services[id].Object.Name)}, true
	}
	if message, last := v.lastRequired(l.Required, pod); last {
		return plan.Reason{Code: plan.RequiredByAffinity, Message: "after earlier moves, " + message}, true
	}
	r, ok := v.Budgets.Allows(p, l.Budgets)
	return r, !ok
}

// lastReadyOfService returns a Service that would lose its last Ready pod by this eviction. evicted counts the
// Ready pods that the Services have already lost.
func (v *Checker) lastReadyOfService(evicted map[cluster.ServiceID]int, p *cluster.Pod) (cluster.ServiceID, bool) {
	if !p.Ready || !v.protected[guard.ProtectLastReady] {
		return 0, false
	}
	for _, id := range p.Services {
		if v.snapshot.Services[id].Ready-evicted[id] < 2 {
			return id, true
		}
	}
	return 0, false
}

// lastRequired returns a message if another pod's required podAffinity would lose its last matching pod by this
// eviction, after the counted evictions.
func (v *Checker) lastRequired(evicted guard.EvictionCounts, pod cluster.PodID) (message string, last bool) {
	if !v.protected[guard.ProtectRequired] {
		return "", false
	}
	return v.Guards.IsLastRequiredByAffinity(v.snapshot, evicted, pod)
}

func (v *Checker) recordRequired(evicted guard.EvictionCounts, pod cluster.PodID) {
	if v.protected[guard.ProtectRequired] {
		v.Guards.RecordEviction(v.snapshot, evicted, pod)
	}
}
