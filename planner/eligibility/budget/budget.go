// Package budget counts down PodDisruptionBudgets as the API server would, were
// the planned evictions carried out one after the other.
//
// It decides whether a pod's budget lets it go while others are away. The
// server decides by the budget's status, which follows its pods with a delay;
// here the status is compared with what the pods of the snapshot give by the
// same rules, and the stricter of the two counts. It never looks at limits of
// our own, and never lets go what the server would keep.
//
// The rules are those of Kubernetes 1.37: pkg/controller/disruption for the
// status, pkg/registry/core/pod/storage/eviction.go for the answer.
package budget

import (
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxDisrupted is how many unconfirmed evictions a budget may hold before the
// server refuses more.
const maxDisrupted = 2000

// Tracker holds what every PodDisruptionBudget of a snapshot allows.
type Tracker struct {
	budgets []cluster.Budget
	states  []state // by BudgetID
}

// state is one budget as it stands.
type state struct {
	// refusal, when its code is set, refuses every pod.
	refusal plan.Reason
	// selectorInvalid: whether the budget covers a pod is not known.
	selectorInvalid bool
	// allowed is how many Ready pods may go, counted how many the pods alone would
	// let go; 0 where they cannot say.
	allowed, allowedByPods int
	// healthy and desired decide about pods that are not Ready, where spared:
	// they go uncharged from a budget that has its healthy pods. A budget that
	// needs none is charged for them.
	healthy, desired int
	unreadyFree      bool
	// unreadyAlways: pods that are not Ready may always go.
	unreadyAlways bool
	// disrupted are pods, by name, that the server has let go and that are still
	// there.
	disrupted map[string]bool
}

// Charges counts evictions under way, by budget.
type Charges map[cluster.BudgetID]int

// NewTracker reads all budgets. spent are those, by namespace/name, whose allowance
// an eviction that was refused may have used up, until the time given.
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
		l.refusal = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " may cover this pod: its selector cannot be read: " + b.Unreadable}
		return l
	case st.ObservedGeneration < b.Object.Generation:
		l.refusal = plan.Reason{Code: plan.PDBNotObserved, Message: "pdb " + name + " was changed and its status is not up to date yet"}
		return l
	case isSpent && now.Before(until):
		l.refusal = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " may have been spent by an eviction that was refused"}
		return l
	case len(st.DisruptedPods) > maxDisrupted:
		l.refusal = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " has too many evictions that are not confirmed yet"}
		return l
	}
	l.unreadyFree = st.DesiredHealthy > 0 && st.CurrentHealthy >= st.DesiredHealthy
	c := countPods(s, b, now)
	switch {
	case c.scaleUnknown:
		// What must stay is in the status only; what is there can be counted.
		// It may have changed without the controller's looking: one at a time.
		l.allowed = min(l.allowed, max(0, c.healthy-l.desired), 1)
		l.healthy = min(l.healthy, c.healthy)
	case c.err != "":
		l.refusal = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " allows none: " + c.err}
	default:
		// The server goes by the status until the controller has counted anew, and
		// by that count afterwards: what is to hold must hold in both.
		l.unreadyFree = l.unreadyFree && c.desired > 0
		l.allowedByPods = c.allowed()
		l.allowed = min(l.allowed, c.allowed())
		l.healthy, l.desired = min(l.healthy, c.healthy), max(l.desired, c.desired)
	}
	return l
}

// Allows says whether the pod's budget lets it go while taken are away.
func (b *Tracker) Allows(p *cluster.Pod, taken Charges) (plan.Reason, bool) {
	reason, _, ok := b.check(p, taken)
	return reason, ok
}

// Charge counts the eviction of a pod that Ask has let go.
func (b *Tracker) Charge(p *cluster.Pod, taken Charges) {
	if _, cost, ok := b.check(p, taken); ok && cost > 0 {
		taken[p.Budgets[0]] += cost
	}
}

func (b *Tracker) check(p *cluster.Pod, taken Charges) (reason plan.Reason, cost int, ok bool) {
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
			"%d PodDisruptionBudgets select the pod; the Eviction API refuses such pods", len(p.Budgets))}, 0, false
	}
	id := p.Budgets[0]
	l, name, gone := &b.states[id], nameOf(&b.budgets[id]), taken[id]
	block := func(format string, args ...any) (plan.Reason, int, bool) {
		return plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " " + fmt.Sprintf(format, args...)}, 0, false
	}
	switch {
	case l.refusal.Code != "":
		return l.refusal, 0, false
	case l.disrupted[p.Object.Name]:
		return block("has let this pod go already")
	case !p.Ready && (l.unreadyAlways || l.unreadyFree && l.healthy-gone >= l.desired):
		return plan.Reason{}, 0, true
	case l.allowed-gone < 1:
		return block("%s", l.describe(gone))
	}
	return plan.Reason{}, 1, true
}

func afterCharges(gone int) string {
	if gone == 0 {
		return ""
	}
	return fmt.Sprintf(" while %d evicted by this plan are away", gone)
}

func nameOf(b *cluster.Budget) string { return b.Object.Namespace + "/" + b.Object.Name }

// Describe says how a budget stands.
func (b *Tracker) Describe(id cluster.BudgetID) string {
	l := &b.states[id]
	if l.refusal.Code != "" {
		return l.refusal.Message
	}
	return "pdb " + nameOf(&b.budgets[id]) + " " + l.describe(0)
}

// describe says how many more may go, and which of the two views says so.
func (l *state) describe(gone int) string {
	left := max(0, l.allowed-gone)
	if l.allowedByPods > l.allowed {
		return fmt.Sprintf("allows %d more%s by its status, though its pods would allow %d", left, afterCharges(gone), l.allowedByPods-gone)
	}
	return fmt.Sprintf("allows %d more%s (%d of its pods are healthy, %d must be)", left, afterCharges(gone), l.healthy, l.desired)
}
