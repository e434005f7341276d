package budgets

import (
	"slices"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The documented cases in which Evenkeel may refuse what the server allows. docs/reference/safety.md has their number.
const (
	noBudgetChecked    = "the server checks no budget for a pod that is pending, terminating or has ended"
	unreadyByOldStatus = "the pod is not Ready, and the server allows it because of an outdated status"
	spentByConflict    = "the budget counts as spent after an eviction that was refused because of its UID"
	alreadyDisrupted   = "the pod was disrupted less than two minutes ago and still exists"
	disruptionEnded    = "a disrupted pod still exists, and its two minutes ended after the snapshot"
	statusTooHigh      = "the status allows more than the pods do by the controller's rules"
	chargeReturned     = "a pod was charged that costs the server nothing, or not yet"
	oneAtATime         = "only the server can read the controller's scale, so one pod is evicted at a time"
	controllerLeft     = "a pod ended at once, so its controller no longer counts as expected"
)

// confirmWithin is the time within which the controller expects the deletion of a disrupted pod.
const confirmWithin = 2 * time.Minute

// documentedCase returns the documented case that explains the difference; empty if there is none.
func (t *caseComparison) documentedCase(a evictionAttempt) string {
	p := a.pod
	b := t.budgetOf(p)
	switch {
	case p.state != ready && p.state != unready && p.state != unknown:
		return noBudgetChecked
	case b == nil: // no budget, or several, which the server refuses
		return ""
	case t.scenario == conflictAfter && strings.HasPrefix(a.ours.Message, "a refused eviction may have used up"):
		return spentByConflict
	case t.isDisrupted(p):
		return alreadyDisrupted
	case p.state != ready && a.ours.Code == "PDBNotObserved": // with AlwaysAllow, or a status that was once healthy
		return unreadyByOldStatus
	case t.scenario == written || t.ownersRescaled(b):
		return statusTooHigh
	case t.returns[b.Name] > 0:
		if !a.dryRun && t.losesHealthyPod(p) {
			t.returns[b.Name]--
		}
		return chargeReturned
	case t.controllerGone(b, p):
		return controllerLeft
	case t.disruptionExpired(b):
		return disruptionEnded
	case needsScale(b) && slices.ContainsFunc(t.pods, func(p podPlan) bool {
		return p.owner >= 0 && budgetSelects(b, p) && t.owners[p.owner].kind == scalable
	}):
		return oneAtATime
	}
	return ""
}

// scaledUnseen reports whether the server refuses by replicas that Evenkeel cannot know: a controller whose scale only
// the server can read was scaled up after the status was written, and the disruption controller has just noticed.
func (t *caseComparison) scaledUnseen(a evictionAttempt) bool {
	b := t.budgetOf(a.pod)
	return b != nil && t.scenario == rescaled && needsScale(b) && slices.ContainsFunc(t.pods, func(p podPlan) bool {
		return p.owner >= 0 && budgetSelects(b, p) && t.owners[p.owner].kind == scalable && t.owners[p.owner].later > t.owners[p.owner].replicas
	})
}

// needsScale reports whether the budget depends on the desired replicas of its pods' controllers.
func needsScale(b *policyv1.PodDisruptionBudget) bool {
	return b.Spec.MaxUnavailable != nil || b.Spec.MinAvailable != nil && b.Spec.MinAvailable.Type == intstr.String
}

// ownersRescaled reports whether the replicas of an owner that the budget depends on have changed since the status was
// written.
func (t *caseComparison) ownersRescaled(b *policyv1.PodDisruptionBudget) bool {
	if !needsScale(b) || t.scenario != rescaled && t.scenario != rescaledAway {
		return false
	}
	return slices.ContainsFunc(t.pods, func(p podPlan) bool {
		return p.owner >= 0 && budgetSelects(b, p) && t.owners[p.owner].later != t.owners[p.owner].replicas
	})
}

// disruptionExpired reports whether the two minutes of a disrupted pod ended after the snapshot, so that the controller
// counts the pod as healthy again.
func (t *caseComparison) disruptionExpired(b *policyv1.PodDisruptionBudget) bool {
	for _, at := range b.Status.DisruptedPods {
		if end := at.Add(confirmWithin); end.After(t.batch.now) && !end.After(time.Now()) {
			return true
		}
	}
	return false
}

// controllerGone reports whether another pod of the budget ended at once, so that its controller no longer counts for
// the budget.
func (t *caseComparison) controllerGone(b *policyv1.PodDisruptionBudget, p podPlan) bool {
	return needsScale(b) && slices.ContainsFunc(t.history, func(h evictionAttempt) bool {
		atOnce := h.pod.state == pendingUnbound || h.pod.state.phase() == "Failed" || h.pod.state.phase() == "Succeeded"
		return atOnce && h.server.allowed && !h.dryRun && h.pod.owner >= 0 && budgetSelects(b, h.pod)
	})
}
