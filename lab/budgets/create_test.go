package budgets

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
)

// gracePeriodSeconds keeps an evicted pod terminating during the test, because no kubelet ends the pod.
var gracePeriodSeconds = int64(3600)

func createNamespace(ctx context.Context, name string) error {
	if _, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	_, err := client.CoreV1().ServiceAccounts(name).Create(ctx,
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating the service account of %s: %w", name, err)
	}
	return nil
}

// createObjects creates owners, then pods, then budgets. Created in this order, owners and pods are usually known to
// the controller when it first counts a budget.
func (c *testCase) createObjects(ctx context.Context) error {
	refs := make([]*metav1.OwnerReference, len(c.owners))
	for i, o := range c.owners {
		ref, err := o.create(ctx, c.namespace)
		if err != nil {
			return fmt.Errorf("creating %s %s: %w", o.kind, o.name, err)
		}
		refs[i] = ref
	}
	for _, p := range c.pods {
		var ref *metav1.OwnerReference
		if p.owner >= 0 {
			ref = refs[p.owner]
		}
		if err := p.create(ctx, c.namespace, ref); err != nil {
			return fmt.Errorf("creating pod %s: %w", p.name, err)
		}
	}
	for _, b := range c.budgets {
		if err := c.createBudget(ctx, b); err != nil {
			return fmt.Errorf("creating budget %s: %w", b.name, err)
		}
	}
	return nil
}

func (p podPlan) create(ctx context.Context, ns string, owner *metav1.OwnerReference) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.name, Labels: p.labels}, Spec: podSpec()}
	pod.Spec.NodeName, pod.Spec.SchedulerName = nodeName, "nobody"
	if p.state == pendingUnbound {
		pod.Spec.NodeName = ""
	}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	api := client.CoreV1().Pods(ns)
	pod, err := api.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	pod.Status.Phase = p.state.phase()
	if p.state != unknown && p.state != pendingUnbound {
		status := corev1.ConditionFalse
		if p.state.ready() {
			status = corev1.ConditionTrue
		}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.Now()}}
	}
	if _, err := api.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if p.state == terminating || p.state == terminatingReady {
		return api.Delete(ctx, p.name, metav1.DeleteOptions{GracePeriodSeconds: &gracePeriodSeconds})
	}
	return nil
}

func (s podState) phase() corev1.PodPhase {
	switch s {
	case pending, pendingUnbound, pendingReady:
		return corev1.PodPending
	case succeeded:
		return corev1.PodSucceeded
	case failed, failedReady:
		return corev1.PodFailed
	}
	return corev1.PodRunning
}

func (s podState) ready() bool {
	return s == ready || s == pendingReady || s == failedReady || s == terminatingReady
}

func (c *testCase) createBudget(ctx context.Context, plan budgetPlan) error {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: plan.name}, Spec: plan.spec}
	if c.scenario == written {
		b.Labels = map[string]string{frozenLabel: ""}
	}
	api := client.PolicyV1().PodDisruptionBudgets(c.namespace)
	b, err := api.Create(ctx, b, metav1.CreateOptions{})
	if err != nil || c.scenario != written {
		return err
	}
	b.Status = plan.status
	if b.Status.ObservedGeneration = b.Generation; plan.behind {
		b.Status.ObservedGeneration--
	}
	b.Status.DisruptedPods = map[string]metav1.Time{}
	for i := 0; plan.crowded && i <= 2000; i++ {
		b.Status.DisruptedPods[fmt.Sprintf("gone-%d", i)] = metav1.Now()
	}
	_, err = api.UpdateStatus(ctx, b, metav1.UpdateOptions{})
	return err
}

// applyScenario makes the change that the case's scenario describes, after the status has settled.
func (c *testCase) applyScenario(ctx context.Context) error {
	switch c.scenario {
	case marked:
		return c.markDisrupted(ctx)
	case outdated:
		return c.eachBudget(ctx, func(b *policyv1.PodDisruptionBudget) {
			b.Labels = map[string]string{frozenLabel: ""}
			changeSpec(&b.Spec)
		})
	case rescaledAway:
		if err := c.eachBudget(ctx, func(b *policyv1.PodDisruptionBudget) { b.Labels = map[string]string{frozenLabel: ""} }); err != nil {
			return err
		}
		return c.rescale(ctx)
	case rescaled:
		return c.rescale(ctx)
	case conflictBefore:
		_, err := c.chargeByConflict(ctx)
		return err
	}
	return nil
}

// changeSpec changes minAvailable or maxUnavailable, so that the generation increases.
func changeSpec(spec *policyv1.PodDisruptionBudgetSpec) {
	amount := intstr.FromInt32(3)
	of := &spec.MaxUnavailable
	if spec.MinAvailable != nil {
		of = &spec.MinAvailable
	}
	if *of != nil && **of == amount {
		amount.IntVal = 1
	}
	*of = &amount
}

func (c *testCase) eachBudget(ctx context.Context, change func(*policyv1.PodDisruptionBudget)) error {
	api := client.PolicyV1().PodDisruptionBudgets(c.namespace)
	for _, plan := range c.budgets {
		if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			b, err := api.Get(ctx, plan.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			change(b)
			_, err = api.Update(ctx, b, metav1.UpdateOptions{})
			return err
		}); err != nil {
			return fmt.Errorf("updating budget %s: %w", plan.name, err)
		}
	}
	return nil
}

// markDisrupted records some pods as disrupted, as the eviction handler does before it deletes a pod. The test never
// deletes the pods.
func (c *testCase) markDisrupted(ctx context.Context) error {
	api := client.PolicyV1().PodDisruptionBudgets(c.namespace)
	for _, plan := range c.budgets {
		if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			b, err := api.Get(ctx, plan.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			b.Status.DisruptedPods = map[string]metav1.Time{}
			for _, p := range c.pods {
				if p.disrupted > 0 {
					b.Status.DisruptedPods[p.name] = metav1.NewTime(time.Now().Add(-time.Duration(p.disrupted) * time.Second))
				}
			}
			_, err = api.UpdateStatus(ctx, b, metav1.UpdateOptions{})
			return err
		}); err != nil {
			return fmt.Errorf("marking pods in budget %s: %w", plan.name, err)
		}
	}
	return nil
}
