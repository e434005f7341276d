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

// Book holds what every PodDisruptionBudget of a snapshot allows.
type Book struct {
	budgets []cluster.Budget
	lines   []line // by BudgetID
}

// line is one budget as it stands.
type line struct {
	// closed, when its code is set, refuses every pod.
	closed plan.Reason
	// unread: whether the budget covers a pod is not known.
	unread bool
	// left is how many Ready pods may go, counted how many the pods alone would
	// let go; 0 where they cannot say.
	left, counted int
	// healthy and desired decide about pods that are not Ready, where spared:
	// they go uncharged from a budget that has its healthy pods. A budget that
	// needs none is charged for them.
	healthy, desired int
	spared           bool
	// always: pods that are not Ready may always go.
	always bool
	// going are pods, by name, that the server has let go and that are still
	// there.
	going map[string]bool
}

// Taken counts evictions under way, by budget.
type Taken map[cluster.BudgetID]int

// NewBook reads all budgets. spent are those, by namespace/name, whose allowance
// an eviction that was refused may have used up, until the time given.
func NewBook(s *cluster.Snapshot, spent map[string]time.Time, now time.Time) *Book {
	b := &Book{s.Budgets, make([]line, len(s.Budgets))}
	for i := range s.Budgets {
		b.lines[i] = read(s, &s.Budgets[i], spent, now)
	}
	return b
}

func read(s *cluster.Snapshot, b *cluster.Budget, spent map[string]time.Time, now time.Time) line {
	st, name := &b.Object.Status, nameOf(b)
	l := line{
		left: int(st.DisruptionsAllowed), healthy: int(st.CurrentHealthy), desired: int(st.DesiredHealthy),
		always: b.Object.Spec.UnhealthyPodEvictionPolicy != nil && *b.Object.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow,
		going:  disrupted(b, now),
	}
	until, isSpent := spent[name]
	switch {
	case b.Unreadable != "":
		l.unread = true
		l.closed = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " may cover this pod: its selector cannot be read: " + b.Unreadable}
		return l
	case st.ObservedGeneration < b.Object.Generation:
		l.closed = plan.Reason{Code: plan.PDBNotObserved, Message: "pdb " + name + " was changed and its status is not up to date yet"}
		return l
	case isSpent && now.Before(until):
		l.closed = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " may have been spent by an eviction that was refused"}
		return l
	case len(st.DisruptedPods) > maxDisrupted:
		l.closed = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " has too many evictions that are not confirmed yet"}
		return l
	}
	l.spared = st.DesiredHealthy > 0 && st.CurrentHealthy >= st.DesiredHealthy
	c := count(s, b, now)
	switch {
	case c.unknown:
		// What must stay is in the status only; what is there can be counted.
		// It may have changed without the controller's looking: one at a time.
		l.left = min(l.left, max(0, c.healthy-l.desired), 1)
		l.healthy = min(l.healthy, c.healthy)
	case c.err != "":
		l.closed = plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " allows none: " + c.err}
	default:
		// The server goes by the status until the controller has counted anew, and
		// by that count afterwards: what is to hold must hold in both.
		l.spared = l.spared && c.desired > 0
		l.counted = c.allowed()
		l.left = min(l.left, c.allowed())
		l.healthy, l.desired = min(l.healthy, c.healthy), max(l.desired, c.desired)
	}
	return l
}

// Ask says whether the pod's budget lets it go while taken are away.
func (b *Book) Ask(p *cluster.Pod, taken Taken) (plan.Reason, bool) {
	reason, _, ok := b.ask(p, taken)
	return reason, ok
}

// Take counts the eviction of a pod that Ask has let go.
func (b *Book) Take(p *cluster.Pod, taken Taken) {
	if _, cost, ok := b.ask(p, taken); ok && cost > 0 {
		taken[p.Budgets[0]] += cost
	}
}

func (b *Book) ask(p *cluster.Pod, taken Taken) (reason plan.Reason, cost int, ok bool) {
	for _, id := range p.Budgets {
		if l := &b.lines[id]; l.unread {
			return l.closed, 0, false
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
	l, name, gone := &b.lines[id], nameOf(&b.budgets[id]), taken[id]
	block := func(format string, args ...any) (plan.Reason, int, bool) {
		return plan.Reason{Code: plan.BlockedByPDB, Message: "pdb " + name + " " + fmt.Sprintf(format, args...)}, 0, false
	}
	switch {
	case l.closed.Code != "":
		return l.closed, 0, false
	case l.going[p.Object.Name]:
		return block("has let this pod go already")
	case !p.Ready && (l.always || l.spared && l.healthy-gone >= l.desired):
		return plan.Reason{}, 0, true
	case l.left-gone < 1:
		return block("%s", l.allows(gone))
	}
	return plan.Reason{}, 1, true
}

func inWave(gone int) string {
	if gone == 0 {
		return ""
	}
	return fmt.Sprintf(" while %d evicted by this plan are away", gone)
}

func nameOf(b *cluster.Budget) string { return b.Object.Namespace + "/" + b.Object.Name }

// Describe says how a budget stands.
func (b *Book) Describe(id cluster.BudgetID) string {
	l := &b.lines[id]
	if l.closed.Code != "" {
		return l.closed.Message
	}
	return "pdb " + nameOf(&b.budgets[id]) + " " + l.allows(0)
}

// allows says how many more may go, and which of the two views says so.
func (l *line) allows(gone int) string {
	left := max(0, l.left-gone)
	if l.counted > l.left {
		return fmt.Sprintf("allows %d more%s by its status, though its pods would allow %d", left, inWave(gone), l.counted-gone)
	}
	return fmt.Sprintf("allows %d more%s (%d of its pods are healthy, %d must be)", left, inWave(gone), l.healthy, l.desired)
}
