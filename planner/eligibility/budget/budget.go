// Package budget predicts which evictions the API server allows by PodDisruptionBudgets, if the planned evictions
// run one after the other.
//
// The API server decides by the status of a budget, which the disruption controller updates with a delay. This
// package also computes that status from the pods of the snapshot and uses the stricter value. It never applies
// the limits of Evenkeel, and it never allows an eviction that the API server would refuse.
//
// The package follows Kubernetes 1.37: pkg/controller/disruption for the status, and
// pkg/registry/core/pod/storage/eviction.go for the decision.
package budget

import (
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxDisrupted is the highest number of unconfirmed evictions at which the API server allows more evictions.
const maxDisrupted = 2000

// Tracker computes the evictions that every PodDisruptionBudget of a snapshot allows.
type Tracker struct {
	// OperatorMoves reports whether the operator of a pod moves it when it sees the request for its eviction. Nil means
	// that no operator does.
	OperatorMoves func(*cluster.Pod) bool
	budgets       []cluster.Budget
	states        []budgetState // by BudgetID
}

// budgetState is the state of one budget at the time of the snapshot.
type budgetState struct {
	// refusal is the reason to refuse every pod of the budget. Its code is empty if the budget may allow evictions.
	refusal plan.Reason
	// selectorInvalid means that the selector is invalid, so the budget may select any pod.
	selectorInvalid bool
	// allowed is the number of Ready pods that may be evicted. allowedByPods is the same number, computed from the
	// pods of the snapshot only. It is 0 if unknown.
	allowed, allowedByPods int
	// healthy is the number of existing healthy pods, and desired the required number. If unreadyFree is set and
	// healthy >= desired, the eviction of an unready pod costs nothing.
	healthy, desired int
	unreadyFree      bool
	// neverAllows means that the budget allows no eviction although no pod is missing. Waiting does not help.
	neverAllows bool
	// never is the setting that forbids the eviction of every healthy pod, however many there are, or "".
	never string
	// unreadyAlways means that the budget always allows the eviction of unready pods.
	unreadyAlways bool
	// disrupted names the existing pods whose eviction the API server has already allowed.
	disrupted map[string]bool
}

// Charges counts planned evictions by budget.
type Charges map[cluster.BudgetID]int

// NewTracker reads all budgets. spent lists, by namespace/name, the budgets that a refused eviction
// may have charged. Such a budget allows no eviction until the given time.
func NewTracker(s *cluster.Snapshot, spent map[string]time.Time, now time.Time) *Tracker {
	b := &Tracker{budgets: s.Budgets, states: make([]budgetState, len(s.Budgets))}
	for i := range s.Budgets {
		b.states[i] = newBudgetState(s, &s.Budgets[i], spent, now)
	}
	return b
}

func newBudgetState(s *cluster.Snapshot, b *cluster.Budget, spent map[string]time.Time, now time.Time) budgetState {
	st, name := &b.Object.Status, budgetName(b)
	l := budgetState{
		allowed: int(st.DisruptionsAllowed), healthy: int(st.CurrentHealthy), desired: int(st.DesiredHealthy),
		unreadyAlways:   ptr.Deref(b.Object.Spec.UnhealthyPodEvictionPolicy, "") == policyv1.AlwaysAllow,
		disrupted:       disruptedPods(b, now),
		selectorInvalid: b.Unreadable != "",
	}
	refuse := func(code plan.Code, message string) budgetState {
		l.refusal = plan.Reason{Code: code, Message: message}
		return l
	}
	switch {
	case b.Unreadable != "":
		return refuse(plan.BlockedByPDB, "pdb "+name+" may select this pod: its selector is invalid: "+b.Unreadable)
	case st.ObservedGeneration < b.Object.Generation:
		return refuse(plan.PDBNotObserved, "pdb "+name+" was changed, and the disruption controller has not updated its status yet")
	case now.Before(spent[name]):
		return refuse(plan.BlockedByPDB, "a refused eviction may have used up pdb "+name)
	case len(st.DisruptedPods) > maxDisrupted:
		return refuse(plan.BlockedByPDB, "pdb "+name+" has too many unconfirmed evictions")
	}
	l.unreadyFree = st.DesiredHealthy > 0 && st.CurrentHealthy >= st.DesiredHealthy
	c := countPods(s, b, now)
	switch {
	case c.scaleUnknown:
		// Only the status has the required number of pods, but the healthy pods can be counted. The scale may have
		// changed since the last status update, so only one eviction at a time is allowed.
		l.allowed = min(l.allowed, max(0, c.healthy-l.desired), 1)
		l.healthy = min(l.healthy, c.healthy)
	case c.err != "":
		return refuse(plan.BlockedByPDB, "pdb "+name+" allows no evictions: "+c.err)
	default:
		// The API server uses the status now, and the new count after the next status update. The stricter value
		// satisfies both.
		l.unreadyFree = l.unreadyFree && c.desired > 0
		l.allowedByPods = c.allowed()
		l.allowed = min(l.allowed, c.allowed())
		l.healthy, l.desired = min(l.healthy, c.healthy), max(l.desired, c.desired)
	}
	l.never = forbiddingSetting(&b.Object.Spec)
	l.neverAllows = l.healthy >= l.desired && l.desired >= max(int(st.ExpectedPods), c.expected)
	return l
}

// Allows reports whether the pod's budget allows its eviction after the planned evictions. If not,
// it returns the reason.
func (b *Tracker) Allows(p *cluster.Pod, charges Charges) (plan.Reason, bool) {
	reason, _, ok := b.check(p, charges)
	return reason, ok
}

// Charge adds the eviction of a pod to the planned evictions, if the budget allows and counts the eviction.
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
			"%d PodDisruptionBudgets select the pod, so the Eviction API refuses to evict it", len(p.Budgets))}, 0, false
	}
	id := p.Budgets[0]
	l, name, charged := &b.states[id], budgetName(&b.budgets[id]), charges[id]
	switch {
	case l.refusal.Code != "":
		return l.refusal, 0, false
	case l.disrupted[p.Object.Name]:
		return plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " has already allowed the eviction of this pod"}, 0, false
	case !p.Ready && (l.unreadyAlways || l.unreadyFree && l.healthy-charged >= l.desired):
		return plan.Reason{}, 0, true
	case l.neverAllows && b.OperatorMoves != nil && b.OperatorMoves(p):
		return plan.Reason{}, 0, true
	case l.allowed-charged < 1:
		return plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " " + l.describeAllowance(charged)}, 0, false
	}
	return plan.Reason{}, 1, true
}

func budgetName(b *cluster.Budget) string { return b.Object.Namespace + "/" + b.Object.Name }

// Describe returns a sentence about the evictions that a budget allows.
func (b *Tracker) Describe(id cluster.BudgetID) string {
	l := &b.states[id]
	if l.refusal.Code != "" {
		return l.refusal.Message
	}
	return "pdb " + budgetName(&b.budgets[id]) + " " + l.describeAllowance(0)
}

// describeAllowance returns the number of evictions that remain after the planned evictions, and how it was computed.
// If waiting does not help, it says what does.
func (l *budgetState) describeAllowance(charged int) string {
	if l.never != "" {
		return "never allows the eviction of a healthy pod while it has " + l.never + "; to move its pods, change that"
	}
	allowance := "allows " + plural.Count(max(0, l.allowed-charged), "more eviction")
	if charged > 0 {
		allowance += fmt.Sprintf(" after %d by this plan", charged)
	}
	if l.allowedByPods > l.allowed {
		return fmt.Sprintf("%s by its status, although its pods would allow %d", allowance, l.allowedByPods-charged)
	}
	allowance += fmt.Sprintf(" (%d healthy pods, %d required)", l.healthy, l.desired)
	if l.neverAllows {
		allowance += "; to move its pods, let it require fewer, or add replicas"
	}
	return allowance
}
