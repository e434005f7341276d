package budgets

import (
	"fmt"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
)

// evictionAttempt is one eviction with the answers of Evenkeel and of the server.
type evictionAttempt struct {
	pod    podPlan
	ours   response
	server serverAnswer
	dryRun bool
	// charged reports whether Evenkeel's tracker counted the eviction against the budget.
	charged bool
}

func (a evictionAttempt) String() string {
	of := func(allowed bool, code, why string) string {
		if allowed {
			return "allows"
		}
		return strings.TrimSpace("refuses " + code + " " + why)
	}
	dry := ""
	if a.dryRun {
		dry = ", dry run"
	}
	return fmt.Sprintf("%s (%s%s): Evenkeel %s; server %s; charged to the budget: %v", a.pod.name, a.pod.state, dry,
		of(a.ours.Allowed, a.ours.Code, a.ours.Message), of(a.server.allowed, "", a.server.said), a.charged)
}

// caseComparison compares the answers for one case.
type caseComparison struct {
	*testCase
	batch   *batch
	into    *comparisonCounts
	taken   int
	history []evictionAttempt
	// returns counts, by budget, the disruptions that the tracker has charged although the server returns or never
	// counts them.
	returns map[string]int
}

// losesHealthyPod reports whether the eviction of p reduces the server's count of healthy pods at once and permanently.
func (t *caseComparison) losesHealthyPod(p podPlan) bool {
	return p.state == ready && !t.isDisrupted(p)
}

// isDisrupted reports whether the pod was disrupted before the snapshot and still exists, so that
// the controller does not count it as healthy.
func (t *caseComparison) isDisrupted(p podPlan) bool {
	b := t.budgetOf(p)
	if b == nil {
		return false
	}
	at, noted := b.Status.DisruptedPods[p.name]
	return noted && at.Add(confirmWithin).After(t.batch.now)
}

// budgetOf returns the budget that selects a pod in the snapshot; nil if no budget or several budgets select the pod.
func (t *caseComparison) budgetOf(p podPlan) *policyv1.PodDisruptionBudget {
	var found *policyv1.PodDisruptionBudget
	for _, plan := range t.budgets {
		if selectorMatches(plan.spec.Selector, p) {
			if found != nil {
				return nil
			}
			found = t.batch.budgets[t.namespace+"/"+plan.name]
		}
	}
	return found
}

// describe lists the objects and the previous evictions of the case, and then this attempt.
func (t *caseComparison) describe(a evictionAttempt) string {
	var s strings.Builder
	fmt.Fprintf(&s, "case %d (%s, settled between: %v) of seed %d\n", t.index, t.scenario, t.settle, t.into.seed)
	for _, o := range t.owners {
		fmt.Fprintf(&s, "  owner %s: %s, replicas %d, later %d\n", o.name, o.kind, o.replicas, o.later)
	}
	for _, plan := range t.budgets {
		b := t.batch.budgets[t.namespace+"/"+plan.name]
		fmt.Fprintf(&s, "  budget %s (%s): min %v max %v policy %s generation %d status %s\n",
			plan.name, plan.selector, b.Spec.MinAvailable, b.Spec.MaxUnavailable, policyOf(b), b.Generation, statusOf(b))
	}
	for _, p := range t.pods {
		fmt.Fprintf(&s, "  pod %s: %s, owner %d, labels %v, disrupted %d s before\n", p.name, p.state, p.owner, p.labels, p.disrupted)
	}
	for _, h := range t.history {
		fmt.Fprintf(&s, "  before: %s\n", h)
	}
	fmt.Fprintf(&s, "  now: %s", a)
	return s.String()
}

func policyOf(b *policyv1.PodDisruptionBudget) string {
	if b.Spec.UnhealthyPodEvictionPolicy == nil {
		return "-"
	}
	return string(*b.Spec.UnhealthyPodEvictionPolicy)
}

func statusOf(b *policyv1.PodDisruptionBudget) string {
	s := b.Status
	said := ""
	for _, c := range s.Conditions {
		said += " " + c.Reason
	}
	return fmt.Sprintf("allowed %d, healthy %d, desired %d, expected %d, observed %d, disrupted %d%s",
		s.DisruptionsAllowed, s.CurrentHealthy, s.DesiredHealthy, s.ExpectedPods, s.ObservedGeneration, len(s.DisruptedPods), said)
}
