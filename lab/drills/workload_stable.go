package drills

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// stableTimeout must exceed two minutes. If a client ends during an eviction request, the budget counts the pod as
// disrupted for two minutes even if it was not evicted.
const stableTimeout = 3 * time.Minute

// waitUntilStable waits until every pod is Ready, no pod is terminating, and the status of every budget is up to date.
func (t *workload) waitUntilStable(ctx context.Context, limit time.Duration) error {
	err := seed.WaitUntil(ctx, limit, func() (bool, error) {
		return true, errors.Join(t.checkDeployments(ctx), t.checkPods(ctx), t.checkBudgets(ctx))
	})
	if err != nil {
		return fmt.Errorf("waiting for a stable workload: %w", err)
	}
	return nil
}

func (t *workload) checkDeployments(ctx context.Context) error {
	list, err := t.client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, d := range list.Items {
		s, want := d.Status, *d.Spec.Replicas
		if s.ObservedGeneration < d.Generation || s.ReadyReplicas != want || s.Replicas != want || s.UpdatedReplicas != want ||
			s.UnavailableReplicas > 0 {
			return fmt.Errorf("%s/%s has %d of %d pods ready", d.Namespace, d.Name, s.ReadyReplicas, *d.Spec.Replicas)
		}
	}
	return nil
}

func (t *workload) checkPods(ctx context.Context) error {
	list, err := t.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list.Items, func(p corev1.Pod) bool {
		return p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning
	})
	if i >= 0 {
		return fmt.Errorf("%s/%s is %s or terminating", list.Items[i].Namespace, list.Items[i].Name, list.Items[i].Status.Phase)
	}
	return nil
}

func (t *workload) checkBudgets(ctx context.Context) error {
	list, err := t.client.PolicyV1().PodDisruptionBudgets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, b := range list.Items {
		if s := b.Status; s.ObservedGeneration < b.Generation || s.CurrentHealthy != s.ExpectedPods || s.ExpectedPods == 0 {
			return fmt.Errorf("budget %s/%s counts %d of %d pods as healthy", b.Namespace, b.Name, s.CurrentHealthy, s.ExpectedPods)
		}
	}
	return nil
}
