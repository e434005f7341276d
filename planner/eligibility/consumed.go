package eligibility

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/budget"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"k8s.io/apimachinery/pkg/labels"
)

// Consumed counts the permanent effects of earlier waves. A replacement does not have labels that a
// person added to the pod. A Service or budget that selects those labels loses one pod. A pod with
// required affinity to the evicted pod also loses it.
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
	replacement := labels.Set(replacementLabels(p))
	v.takeRequired(l.Required, pod)
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
	if id, last := v.lastBehindService(l.Services, p); last {
		return plan.Reason{Code: plan.LastReadyPod, Message: fmt.Sprintf(
			"it would be the last Ready pod of Service %s: replacements of others do not carry its labels", v.snapshot.Services[id].Object.Name)}, true
	}
	if who, last := v.lastRequired(l.Required, pod); last {
		return plan.Reason{Code: plan.RequiredByAffinity, Message: who + ", once others have moved"}, true
	}
	r, ok := v.Budgets.Allows(p, l.Budgets)
	return r, !ok
}

// lastBehindService returns a Service that has no Ready pod left if the pod leaves after the taken
// ones.
func (v *Checker) lastBehindService(taken map[cluster.ServiceID]int, p *cluster.Pod) (cluster.ServiceID, bool) {
	if !p.Ready || !v.options.Guards.Protect[guard.ProtectLastReady] {
		return 0, false
	}
	for _, id := range p.Services {
		if guard.ReadyPods(v.snapshot, &v.snapshot.Services[id])-taken[id] < 2 {
			return id, true
		}
	}
	return 0, false
}

// lastRequired describes the pod that loses its last required pod if this one leaves after the
// taken ones.
func (v *Checker) lastRequired(taken guard.EvictionCounts, pod cluster.PodID) (string, bool) {
	if !v.options.Guards.Protect[guard.ProtectRequired] {
		return "", false
	}
	return v.Guards.LastRequired(v.snapshot, taken, pod)
}

func (v *Checker) takeRequired(taken guard.EvictionCounts, pod cluster.PodID) {
	if v.options.Guards.Protect[guard.ProtectRequired] {
		v.Guards.RecordEviction(v.snapshot, taken, pod)
	}
}
