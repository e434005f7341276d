package budgets

import (
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// unlimitedAllowance exceeds the number of pods of any case.
const unlimitedAllowance = 1000

// allowEverything replaces the status of every budget with one that allows all evictions. A tracker that reads the
// changed status depends only on the pods and their owners.
func allowEverything(lists []runtime.Object) []runtime.Object {
	out := slices.Clone(lists)
	for i, l := range out {
		pdbs, ok := l.(*policyv1.PodDisruptionBudgetList)
		if !ok {
			continue
		}
		pdbs = pdbs.DeepCopy()
		for j := range pdbs.Items {
			b := &pdbs.Items[j]
			b.Status.ObservedGeneration, b.Status.DisruptionsAllowed = b.Generation, unlimitedAllowance
			b.Status.CurrentHealthy, b.Status.DesiredHealthy = unlimitedAllowance, 1
		}
		out[i] = pdbs
	}
	return out
}

// checkCount compares Evenkeel's pod count with the controller's, if the controller has observed all pods. Without this
// check, a stricter status would hide a pod count that is too high.
func (c *testCase) checkCount(b *batch, into *comparisonCounts) error {
	if c.scenario.statusFrozen() || c.scenario == rescaled {
		return nil
	}
	for _, plan := range c.budgets {
		pdb := b.budgets[c.namespace+"/"+plan.name]
		if c.needsServerScale(pdb) || disruptionExpires(b, pdb) {
			continue
		}
		got, want, err := c.countAllowed(b, pdb)
		if err != nil {
			return fmt.Errorf("case %d: %w", c.index, err)
		}
		if !slices.Equal(got, want) {
			t := &caseComparison{testCase: c, batch: b, into: into}
			into.addMismatch(fmt.Sprintf(
				"%s\n  evictions that budget %s allows if its status is ignored: Evenkeel %v, controller %v",
				t.describe(evictionAttempt{}), plan.name, got, want))
			continue
		}
		into.countMatch()
	}
	return nil
}

// countAllowed returns the pods that Evenkeel and the controller allow to evict: each unready pod on its own, and Ready
// pods one after the other until the budget is used up.
func (c *testCase) countAllowed(b *batch, pdb *policyv1.PodDisruptionBudget) (got, want []string, err error) {
	s := pdb.Status
	left := int(s.DisruptionsAllowed)
	always := pdb.Spec.UnhealthyPodEvictionPolicy != nil && *pdb.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	spared := always || s.DesiredHealthy > 0 && s.CurrentHealthy >= s.DesiredHealthy
	for _, p := range c.pods {
		at, noted := s.DisruptedPods[p.name]
		if !budgetSelects(pdb, p) || c.countBudgetsOf(p) != 1 || noted && at.Add(confirmWithin).After(b.now) {
			continue
		}
		q := request{Op: "ask", Tracker: b.countingTrackerName(), Pod: c.namespace + "/" + p.name, Taken: pdb.Name}
		charged, may := p.state.ready(), left > 0
		if !charged { // each pod that is not Ready is asked for separately
			if s.ObservedGeneration != pdb.Generation { // the rest of the status is out of date
				continue
			}
			q.Taken += "/" + p.name
			may = spared || s.DisruptionsAllowed > 0
		}
		a, err := budgetcheck.request(q)
		if err != nil {
			return nil, nil, err
		}
		if a.Allowed {
			got = append(got, p.name)
		}
		if may {
			want = append(want, p.name)
		}
		if !charged || !a.Allowed {
			continue
		}
		left--
		q.Op = "take"
		if _, err := budgetcheck.request(q); err != nil {
			return nil, nil, err
		}
	}
	return got, want, nil
}

// needsServerScale reports whether the budget depends on a scale subresource that only the server can read.
func (c *testCase) needsServerScale(b *policyv1.PodDisruptionBudget) bool {
	return needsScale(b) && slices.ContainsFunc(c.pods, func(p podPlan) bool {
		custom := []ownerKind{scalable, unscalable, unserved}
		return p.owner >= 0 && budgetSelects(b, p) && slices.Contains(custom, c.owners[p.owner].kind)
	})
}

// disruptionExpires reports whether the two minutes of a disrupted pod are over, so that the controller is about to
// count the pod as healthy again.
func disruptionExpires(b *batch, pdb *policyv1.PodDisruptionBudget) bool {
	for _, at := range pdb.Status.DisruptedPods {
		if !at.Add(confirmWithin).After(b.now) {
			return true
		}
	}
	return false
}
