package budgets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The documented cases in which Evenkeel may refuse what the server allows. docs/reference/budgets.md lists them with
// their counts.
const (
	askedNoBudget  = "the server checks no budget for a pod that is pending, terminating or has ended"
	unreadyGoes    = "the pod is not Ready, and the server allows it because of an outdated status"
	keptAsSpent    = "the budget counts as spent after an eviction that was refused because of its UID"
	letGoBefore    = "the pod was disrupted less than two minutes ago and still exists"
	ranOut         = "a disrupted pod still exists, and its two minutes ended after the snapshot"
	statusNotOwn   = "the status allows more than the pods do by the controller's rules"
	givenBack      = "a pod was charged that costs the server nothing, or not yet"
	oneAtATime     = "only the server can read the controller's scale, so one pod is evicted at a time"
	controllerLeft = "a pod ended at once, so its controller no longer counts as expected"
)

// confirmWithin is how long the controller waits for the deletion of a disrupted pod.
const confirmWithin = 2 * time.Minute

// explain returns the documented case that applies, or "".
func (t *trial) explain(a attempt) string {
	p := a.pod
	b := t.budgetOf(p)
	switch {
	case p.state != ready && p.state != unready && p.state != unknown:
		return askedNoBudget
	case b == nil: // no budget, or several, which the server refuses
		return ""
	case t.flavour == conflictAfter && strings.Contains(a.ours.Message, "spent"):
		return keptAsSpent
	case t.going(p):
		return letGoBefore
	case p.state != ready && a.ours.Code == "PDBNotObserved": // with AlwaysAllow, or a status that was once healthy
		return unreadyGoes
	case t.flavour == written || t.rescaled(b):
		return statusNotOwn
	case t.returns[b.Name] > 0:
		if !a.dryRun && t.loses(p) {
			t.returns[b.Name]--
		}
		return givenBack
	case t.left(b, p):
		return controllerLeft
	case t.ranOut(b):
		return ranOut
	case scaled(b) && slices.ContainsFunc(t.pods, func(p podPlan) bool {
		return p.owner >= 0 && selects(b, p) && t.owners[p.owner].kind == scalable
	}):
		return oneAtATime
	}
	return ""
}

// scaled reports whether the budget depends on the desired replicas of its pods' controllers.
func scaled(b *policyv1.PodDisruptionBudget) bool {
	return b.Spec.MaxUnavailable != nil || b.Spec.MinAvailable != nil && b.Spec.MinAvailable.Type == intstr.String
}

// rescaled reports whether the replicas of an owner that the budget depends on have changed since the status was
// written.
func (t *trial) rescaled(b *policyv1.PodDisruptionBudget) bool {
	if !scaled(b) || t.flavour != rescaled && t.flavour != rescaledAway {
		return false
	}
	return slices.ContainsFunc(t.pods, func(p podPlan) bool {
		return p.owner >= 0 && selects(b, p) && t.owners[p.owner].later != t.owners[p.owner].replicas
	})
}

// ranOut reports whether the two minutes of a disrupted pod ended between the snapshot and now, so that the
// controller counts the pod again.
func (t *trial) ranOut(b *policyv1.PodDisruptionBudget) bool {
	for _, at := range b.Status.DisruptedPods {
		if end := at.Add(confirmWithin); end.After(t.batch.now) && !end.After(time.Now()) {
			return true
		}
	}
	return false
}

// left reports whether another pod of the budget ended at once, and the budget depends on the controllers of its
// pods.
func (t *trial) left(b *policyv1.PodDisruptionBudget, p podPlan) bool {
	return scaled(b) && slices.ContainsFunc(t.history, func(h attempt) bool {
		atOnce := h.pod.state == pendingUnbound || h.pod.state.phase() == "Failed" || h.pod.state.phase() == "Succeeded"
		return atOnce && h.server.allowed && !h.dryRun && h.pod.owner >= 0 && selects(b, h.pod)
	})
}

// tally counts how the answers compare.
type tally struct {
	mu        sync.Mutex
	seed      uint64
	cases     int
	flavours  map[flavour]int
	allow     int // both allow
	refuse    int // both refuse
	byCode    map[string]int
	refused   map[string]int // Evenkeel refuses, the server allows: by documented case
	allowed   []string       // Evenkeel allows, the server refuses
	unaligned []string       // Evenkeel refuses, the server allows, and no documented case applies
	counted   int            // budgets for which the count of the pods equals the controller's
	differ    []string       // budgets for which it differs
}

func newTally(seed uint64) *tally {
	return &tally{seed: seed, flavours: map[flavour]int{}, byCode: map[string]int{}, refused: map[string]int{}}
}

func (t *tally) locked(f func()) { t.mu.Lock(); defer t.mu.Unlock(); f() }

func (t *tally) end(c *casePlan) { t.locked(func() { t.cases++; t.flavours[c.flavour]++ }) }

func (t *tally) agree(a attempt) {
	t.locked(func() {
		if a.ours.Allowed {
			t.allow++
			return
		}
		t.refuse++
		t.byCode[a.ours.Code]++
	})
}

func (t *tally) weAllow(story string) { t.locked(func() { t.allowed = append(t.allowed, story) }) }
func (t *tally) unexplained(story string) {
	t.locked(func() { t.unaligned = append(t.unaligned, story) })
}
func (t *tally) counts()                { t.locked(func() { t.counted++ }) }
func (t *tally) miscounts(story string) { t.locked(func() { t.differ = append(t.differ, story) }) }
func (t *tally) weRefuse(why string)    { t.locked(func() { t.refused[why]++ }) }

// String returns the table of the comparison.
func (t *tally) String() string {
	var s strings.Builder
	row := func(what string, n int) { fmt.Fprintf(&s, "%7d  %s\n", n, what) }
	documented := 0
	for _, n := range t.refused {
		documented += n
	}
	fmt.Fprintf(&s, "seed %d\n", t.seed)
	row("cases", t.cases)
	for _, f := range slices.Sorted(maps.Keys(t.flavours)) {
		row("  "+string(f), t.flavours[f])
	}
	row("budgets whose pod count equals the controller's", t.counted)
	row("budgets whose pod count differs", len(t.differ))
	row("verdicts compared", t.allow+t.refuse+documented+len(t.allowed)+len(t.unaligned))
	row("both allow", t.allow)
	row("both refuse", t.refuse)
	for _, code := range slices.Sorted(maps.Keys(t.byCode)) {
		row("  "+code, t.byCode[code])
	}
	row("Evenkeel allows, the server refuses", len(t.allowed))
	row("Evenkeel refuses, the server allows: documented", documented)
	for _, why := range slices.Sorted(maps.Keys(t.refused)) {
		row("  "+why, t.refused[why])
	}
	row("Evenkeel refuses, the server allows: unexplained", len(t.unaligned))
	return s.String()
}
