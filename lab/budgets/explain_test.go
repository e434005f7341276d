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

// The documented cases: why we may refuse what the server allows.
// docs/reference/budgets.md lists them with their counts.
const (
	askedNoBudget  = "the server asks no budget for a pod that is pending, ended or terminating"
	unreadyGoes    = "the pod is not Ready, and the server lets it go by a status that is out of date"
	keptAsSpent    = "the budget is taken as spent after an eviction that was refused for its UID"
	letGoBefore    = "the pod was let go within two minutes and is still there"
	ranOut         = "a pod was let go, is still there, and the two minutes ended after the snapshot"
	statusNotOwn   = "the status allows more than the pods give by the controller's rules"
	givenBack      = "a pod was charged that costs the server nothing, or not at once"
	oneAtATime     = "only the server knows the scale of its controller: one goes at a time"
	controllerLeft = "a pod that goes at once took its controller, and what it expects, out of the count"
)

// confirmWithin is how long the controller waits for a pod that was let go.
const confirmWithin = 2 * time.Minute

// explain names the documented case, or returns "".
func (t *trial) explain(a attempt) string {
	p := a.pod
	b := t.budgetOf(p)
	switch {
	case p.state != ready && p.state != unready && p.state != unknown:
		return askedNoBudget
	case b == nil: // none, or several, which the server refuses
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
	case scaled(b) && slices.ContainsFunc(t.pods, func(p podPlan) bool { return p.owner >= 0 && selects(b, p) && t.owners[p.owner].kind == scalable }):
		return oneAtATime
	}
	return ""
}

// scaled says whether the budget depends on what its pods' controllers desire.
func scaled(b *policyv1.PodDisruptionBudget) bool {
	return b.Spec.MaxUnavailable != nil || b.Spec.MinAvailable != nil && b.Spec.MinAvailable.Type == intstr.String
}

// rescaled says whether an owner that the budget depends on has got other
// replicas since the status was written.
func (t *trial) rescaled(b *policyv1.PodDisruptionBudget) bool {
	if !scaled(b) || t.flavour != rescaled && t.flavour != rescaledAway {
		return false
	}
	return slices.ContainsFunc(t.pods, func(p podPlan) bool {
		return p.owner >= 0 && selects(b, p) && t.owners[p.owner].later != t.owners[p.owner].replicas
	})
}

// ranOut says whether a pod of the budget was let go so long ago that the
// controller counts it again by now, while the snapshot did not.
func (t *trial) ranOut(b *policyv1.PodDisruptionBudget) bool {
	for _, at := range b.Status.DisruptedPods {
		if end := at.Add(confirmWithin); end.After(t.batch.now) && !end.After(time.Now()) {
			return true
		}
	}
	return false
}

// left says whether a pod of the budget other than p has gone at once, and the
// budget depends on the controllers of its pods.
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
	allow     int // both
	refuse    int // both
	byCode    map[string]int
	refused   map[string]int // we refuse, the server allows: by documented case
	allowed   []string       // we allow, the server refuses
	unaligned []string       // we refuse, the server allows, and nothing explains it
	counted   int            // budgets whose allowance, by the pods alone, is the controller's
	differ    []string       // those whose is not
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

// String is the table of the comparison.
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
	row("budgets counted by their pods alone as the controller counts them", t.counted)
	row("budgets counted otherwise", len(t.differ))
	row("verdicts compared", t.allow+t.refuse+documented+len(t.allowed)+len(t.unaligned))
	row("both allow", t.allow)
	row("both refuse", t.refuse)
	for _, code := range slices.Sorted(maps.Keys(t.byCode)) {
		row("  "+code, t.byCode[code])
	}
	row("we allow, the server refuses", len(t.allowed))
	row("we refuse, the server allows: documented", documented)
	for _, why := range slices.Sorted(maps.Keys(t.refused)) {
		row("  "+why, t.refused[why])
	}
	row("we refuse, the server allows: unexplained", len(t.unaligned))
	return s.String()
}
