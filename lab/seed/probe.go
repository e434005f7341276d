package seed

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// BindProbe creates a small pod without an owner, and waits until its scheduler has bound it. Unless zone is empty, the
// pod prefers that zone. A scheduler without a name is the default one.
func BindProbe(ctx context.Context, client kubernetes.Interface, ns, name, scheduler, zone string) error {
	requests := corev1.ResourceList{"cpu": resource.MustParse("50m"), "memory": resource.MustParse("20Mi")}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{SchedulerName: scheduler,
		Containers: []corev1.Container{{Name: "c", Image: "registry.k8s.io/pause:3.10",
			Resources: corev1.ResourceRequirements{Requests: requests}}}}}
	if zone != "" {
		in := corev1.NodeSelectorRequirement{Key: ZoneKey, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}
		preferred := []corev1.PreferredSchedulingTerm{{Weight: 100,
			Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{in}}}}
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred}}
	}
	if _, err := client.CoreV1().Pods(ns).Create(ctx, p, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := WaitUntil(ctx, time.Minute, func() (bool, error) {
		p, err := client.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
		return err == nil && p.Spec.NodeName != "", err
	}); err != nil {
		return fmt.Errorf("waiting until scheduler %q has bound %s/%s: %w", scheduler, ns, name, err)
	}
	return nil
}
