package seed

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// WaitUntil polls until ask returns true without an error. After the time limit, WaitUntil returns the last error of
// ask.
func WaitUntil(ctx context.Context, limit time.Duration, ask func() (bool, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, limit, true, func(context.Context) (bool, error) {
		ok, err := ask()
		last = err
		return ok && err == nil, nil
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

// PodsByZone returns the number of an app's pods per zone, without terminating pods.
func PodsByZone(ctx context.Context, client kubernetes.Interface, ns, app string) (map[string]int, error) {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	zone := map[string]string{}
	counts := map[string]int{}
	for _, n := range nodes.Items {
		zone[n.Name] = n.Labels[ZoneKey]
		counts[n.Labels[ZoneKey]] = 0
	}
	pods, err := client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return nil, err
	}
	for _, p := range pods.Items {
		if p.DeletionTimestamp == nil && p.Spec.NodeName != "" {
			counts[zone[p.Spec.NodeName]]++
		}
	}
	return counts, nil
}

// DeleteNamespace deletes a namespace and waits until its pods are deleted. The namespace itself may exist a little
// longer.
func DeleteNamespace(ctx context.Context, client kubernetes.Interface, ns string) error {
	if err := client.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{}); err != nil {
		return err
	}
	now := int64(0)
	return WaitUntil(ctx, time.Minute, func() (bool, error) {
		pods := client.CoreV1().Pods(ns)
		if err := pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}); err != nil {
			return false, err
		}
		left, err := pods.List(ctx, metav1.ListOptions{})
		return err == nil && len(left.Items) == 0, err
	})
}
