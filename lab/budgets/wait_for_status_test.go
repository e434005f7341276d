package budgets

import (
	"context"
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// waitUntilSettled waits until the disruption controller has observed every change of the case. Each status must match
// the expectation in two consecutive reads.
func (c *testCase) waitUntilSettled(ctx context.Context) error {
	if c.scenario == written {
		return nil
	}
	for _, plan := range c.budgets {
		if err := c.waitForBudget(ctx, plan); err != nil {
			return err
		}
	}
	return nil
}

func (c *testCase) waitForBudget(ctx context.Context, plan budgetPlan) error {
	api := client.PolicyV1().PodDisruptionBudgets(c.namespace)
	looks, last, why := 0, "", ""
	look := func(ctx context.Context) (bool, error) {
		b, err := api.Get(ctx, plan.name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if why, err = c.pendingChange(ctx, b); err != nil {
			return false, err
		}
		if looks++; why != "" {
			why, last = fmt.Sprintf("%s, status %s", why, statusOf(b)), ""
			if looks%10 == 0 { // the controller may wait long before a retry, or not be notified about pods with two budgets
				err = triggerSync(ctx, b, looks)
			}
			return false, err
		}
		same := last == b.ResourceVersion
		last = b.ResourceVersion
		return same, nil
	}
	// The workers poll in parallel, and shorter intervals would overload the server.
	if err := wait.PollUntilContextTimeout(ctx, 150*time.Millisecond, 90*time.Second, true, func(ctx context.Context) (bool, error) {
		done, err := look(ctx)
		if err != nil {
			why = err.Error()
		}
		return done, nil
	}); err != nil {
		return fmt.Errorf("waiting for the status of budget %s to settle: %w (%s)", plan.name, err, why)
	}
	return nil
}

// triggerSync changes an annotation so that the controller processes the budget again.
func triggerSync(ctx context.Context, b *policyv1.PodDisruptionBudget, n int) error {
	_, err := client.PolicyV1().PodDisruptionBudgets(b.Namespace).Patch(ctx, b.Name, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{"poked":"%d"}}}`, n), metav1.PatchOptions{})
	return err
}

// pendingChange describes the first change that the controller has not processed; empty if there is none.
func (c *testCase) pendingChange(ctx context.Context, b *policyv1.PodDisruptionBudget) (string, error) {
	sync := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	failed := sync != nil && sync.Reason == policyv1.SyncFailedReason
	healthy, expected, fails, err := c.expectedStatus(ctx, b)
	switch {
	case err != nil:
		return "", err
	case sync == nil:
		return "no sync condition", nil
	case failed != fails:
		return fmt.Sprintf("sync failed: %v (%s), want %v", failed, sync.Message, fails), nil
	case failed:
		return "", nil
	case b.Status.ObservedGeneration != b.Generation:
		return "the generation is not observed", nil
	case int(b.Status.CurrentHealthy) != healthy:
		return fmt.Sprintf("the status counts %d healthy pods, want %d", b.Status.CurrentHealthy, healthy), nil
	case int(b.Status.ExpectedPods) != expected && c.scenario != rescaled: // with rescaled owners, both numbers are possible
		return fmt.Sprintf("the status expects %d pods, want %d", b.Status.ExpectedPods, expected), nil
	}
	return "", nil
}

// expectedStatus counts the healthy and the expected pods by the controller's rules. fails is true if the budget needs
// a scale that the owner of a pod does not have.
func (c *testCase) expectedStatus(ctx context.Context, b *policyv1.PodDisruptionBudget) (healthy, expected int, fails bool, err error) {
	if b.Spec.Selector == nil { // a nil selector selects nothing
		return 0, 0, false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return 0, 0, false, err
	}
	pods, err := client.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
	if err != nil {
		return 0, 0, false, err
	}
	plans := map[string]podPlan{}
	for _, p := range c.pods {
		plans[p.name] = p
	}
	scale := needsScale(b)
	owners := map[int]bool{}
	for i := range pods.Items {
		p := &pods.Items[i]
		plan, known := plans[p.Name]
		if !known {
			return 0, 0, false, fmt.Errorf("pod %s does not belong to case %d", p.Name, c.index)
		}
		at, going := b.Status.DisruptedPods[p.Name]
		if going = going && time.Since(at.Time) < confirmWithin; plan.state.ready() && p.DeletionTimestamp == nil && !going {
			healthy++
		}
		switch {
		case !scale && b.Spec.MinAvailable != nil:
			expected++
		case scale && plan.owner >= 0 && !owners[plan.owner]:
			owners[plan.owner] = true
			expected += int(c.owners[plan.owner].replicas)
		}
		fails = fails || scale && plan.owner >= 0 && !c.owners[plan.owner].kind.hasReplicas()
	}
	return healthy, expected, fails, nil
}
