package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/search"
)

// recheckRemoval checks the removal of a pod that has ended again.
func recheckRemoval(c *search.Search, m plan.Move) (plan.Move, plan.Outcome, bool) {
	drop := func(kind plan.OutcomeKind, code plan.Code, msg string) (plan.Move, plan.Outcome, bool) {
		return m, plan.Outcome{Step: m.Step, Pod: m.Pod, Outcome: kind, Reason: plan.Reason{Code: code, Message: msg}}, false
	}
	p := FindPod(c.Snapshot, m.Pod)
	switch {
	case p == nil:
		return drop(plan.AlreadyGone, plan.PodGoneAlready, "the pod is gone")
	case m.Pod.UID != "" && string(p.Object.UID) != m.Pod.UID:
		return drop(plan.Dropped, plan.UIDChanged, "another pod of the same name stands there now")
	case !p.Terminal:
		return drop(plan.Dropped, plan.PremiseChanged, "the pod has not ended")
	case p.Node == cluster.NoNode || c.Snapshot.Nodes[p.Node].Name != m.From:
		return drop(plan.Dropped, plan.PremiseChanged, "the pod is no longer on "+m.From)
	}
	if r, ok := c.RecheckRemoval(p.ID, m.Strategy, m.Removal, isReserved(c, m)); !ok {
		return drop(plan.Dropped, r.Code, r.Message)
	}
	m.Pod, m.Owner, m.GracePeriodSeconds = plan.PodRefOf(p), plan.OwnerRefOf(c.Snapshot, p), 0
	m.NotAfter, m.EligibilityInputs = c.Eligibility.AllowedUntil(p), annotation.Fingerprint(p.Object)
	return m, plan.Outcome{}, true
}
