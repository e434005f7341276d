// Package budget predicts which evictions the API server allows by PodDisruptionBudgets, if the
// planned evictions run one after the other.
//
// The API server decides by the status of a budget, which the disruption controller updates with
// a delay. This package also computes that status from the pods of the snapshot and uses the
// stricter value. It never applies the limits of Evenkeel, and it never allows an eviction that
// the API server would refuse.
//
// The rules are those of Kubernetes 1.37: pkg/controller/disruption for the status,
// pkg/registry/core/pod/storage/eviction.go for the decision.
package budget

import (
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxDisrupted is the number of unconfirmed evictions above which the API server refuses more.
const maxDisrupted = 2000

// Tracker knows the evictions that every PodDisruptionBudget of a snapshot allows.
type Tracker struct {
	budgets []cluster.Budget
	states  []state // by BudgetID
}

// state is the state of one budget at the time of the snapshot.
type state struct {
	// refusal is the reason to refuse every pod of the budget, if its code is set.
	refusal plan.Reason
	// selectorInvalid means that it is unknown whether the budget selects a pod.
	selectorInvalid bool
	// allowed is the number of Ready pods that may be evicted. allowedByPods is that number computed
	// from the pods of the snapshot only, or 0 if it is unknown.
	allowed, allowedByPods int
	// healthy and desired are the numbers of healthy pods that exist and that are required. If
	// unreadyFree is set and healthy >= desired, the eviction of an unready pod costs nothing.
	healthy, desired int
	unreadyFree      bool
	// unreadyAlways means that the budget always allows the eviction of unready pods.
	unreadyAlways bool
	// disrupted names the pods whose eviction the API server has allowed and that still exist.
	disrupted map[string]bool
}

// Charges counts planned evictions by budget.
type Charges map[cluster.BudgetID]int

// NewTracker reads all budgets. spent lists, by namespace/name, the budgets that a refused eviction
// may have charged. Such a budget allows no eviction until the given time.
func NewTracker(s *cluster.Snapshot, spent map[string]time.Time, now time.Time) *Tracker {
	b := &Tracker{s.Budgets, make([]state, len(s.Budgets))}
	for i := range s.Budgets {
		b.states[i] = newState(s, &s.Budgets[i], spent, now)
	}
	return b
}

func newState(s *cluster.Snapshot, b *cluster.Budget, spent map[string]time.Time, now time.Time) state {
	st, name := &b.Object.Status, nameOf(b)
	l := state{
		allowed: int(st.DisruptionsAllowed), healthy: int(st.CurrentHealthy), desired: int(st.DesiredHealthy),
		unreadyAlways: b.Object.Spec.UnhealthyPodEvictionPolicy != nil && *b.Object.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow,
		disrupted:     disruptedPods(b, now),
	}
	until, isSpent := spent[name]
	switch {
	case b.Unreadable != "":
		l.selectorInvalid = true
		l.refusal = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " may select this pod: its selector is invalid: " + b.Unreadable}
		return l
	case st.ObservedGeneration < b.Object.Generation:
		l.refusal = plan.Reason{Code: plan.PDBNotObserved, Message: "pdb " + name + " was changed, and the disruption controller has not updated its status yet"}
		return l
	case isSpent && now.Before(until):
		l.refusal = plan.Reason{Code: plan.BlockedByPDB, Message: "a refused eviction may have used up pdb " + name}
		return l
	case len(st.DisruptedPods) > maxDisrupted:
		l.refusal = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " has too many unconfirmed evictions"}
		return l
	}
	l.unreadyFree = st.DesiredHealthy > 0 && st.CurrentHealthy >= st.DesiredHealthy
	c := countPods(s, b, now)
	switch {
	case c.scaleUnknown:
		// Only the status knows the required pods, but the healthy pods can be counted. The scale
		// may have changed since the last status update, so one eviction at a time is allowed.
		l.allowed = min(l.allowed, max(0, c.healthy-l.desired), 1)
		l.healthy = min(l.healthy, c.healthy)
	case c.err != "":
		l.refusal = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " allows no evictions: " + c.err}
	default:
		// The API server uses the status now and the new count after the next status update. The
		// stricter value satisfies both.
		l.unreadyFree = l.unreadyFree && c.desired > 0
		l.allowedByPods = c.allowed()
		l.allowed = min(l.allowed, c.allowed())
		l.healthy, l.desired = min(l.healthy, c.healthy), max(l.desired, c.desired)
	}
	return l
}

// Allows reports whether the pod's budget allows its eviction after the planned evictions. If not,
// it returns the reason.
func (b *Tracker) Allows(p *cluster.Pod, charges Charges) (plan.Reason, bool) {
	reason, _, ok := b.check(p, charges)
	return reason, ok
}

// Charge adds the eviction of a pod to the planned evictions, if the budget allows and counts it.
func (b *Tracker) Charge(p *cluster.Pod, charges Charges) {
	if _, cost, ok := b.check(p, charges); ok && cost > 0 {
		charges[p.Budgets[0]] += cost
	}
}

// check returns the number of evictions, 0 or 1, that the budget counts for this pod.
func (b *Tracker) check(p *cluster.Pod, charges Charges) (reason plan.Reason, cost int, ok bool) {
	for _, id := range p.Budgets {
		if l := &b.states[id]; l.selectorInvalid {
			return l.refusal, 0, false
		}
	}
	switch len(p.Budgets) {
	case 0:
		return plan.Reason{}, 0, true
	case 1:
	default:
		return plan.Reason{Code: plan.MultiplePDBs, Message: fmt.Sprintf(
			"%d PodDisruptionBudgets select the pod, and the Eviction API refuses such pods", len(p.Budgets))}, 0, false
	}
	id := p.Budgets[0]
	l, name, charged := &b.states[id], nameOf(&b.budgets[id]), charges[id]
	block := func(format string, args ...any) (plan.Reason, int, bool) {
		return plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " " + fmt.Sprintf(format, args...)}, 0, false
	}
	switch {
	case l.refusal.Code != "":
		return l.refusal, 0, false
	case l.disrupted[p.Object.Name]:
		return block("has already allowed the eviction of this pod")
	case !p.Ready && (l.unreadyAlways || l.unreadyFree && l.healthy-charged >= l.desired):
		return plan.Reason{}, 0, true
	case l.allowed-charged < 1:
		return block("%s", l.describe(charged))
	}
	return plan.Reason{}, 1, true
}

// afterCharges returns a phrase for messages about planned evictions.
func afterCharges(charged int) string {
	if charged == 0 {
		return ""
	}
	return fmt.Sprintf(" after %d by this plan", charged)
}

func moreEvictions(n int) string {
	if n == 1 {
		return "1 more eviction"
	}
	return fmt.Sprintf("%d more evictions", n)
}

func nameOf(b *cluster.Budget) string { return b.Object.Namespace + "/" + b.Object.Name }

// Describe returns a sentence about the evictions that a budget allows.
func (b *Tracker) Describe(id cluster.BudgetID) string {
	l := &b.states[id]
	if l.refusal.Code != "" {
		return l.refusal.Message
	}
	return "pdb " + nameOf(&b.budgets[id]) + " " + l.describe(0)
}

// describe returns the number of evictions that remain after the planned ones, and its origin.
func (l *state) describe(charged int) string {
	remaining := max(0, l.allowed-charged)
	if l.allowedByPods > l.allowed {
		return fmt.Sprintf("allows %s%s by its status, although its pods would allow %d", moreEvictions(remaining), afterCharges(charged), l.allowedByPods-charged)
	}
	return fmt.Sprintf("allows %s%s (%d healthy pods, %d required)", moreEvictions(remaining), afterCharges(charged), l.healthy, l.desired)
}
