package seed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	var last error
	err := WaitUntil(ctx, 3*time.Minute, func() (bool, error) { // the deletion of many pods can take longer than a request may
		pods := client.CoreV1().Pods(ns)
		if last = pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}); last != nil {
			return false, nil
		}
		var left *corev1.PodList
		left, last = pods.List(ctx, metav1.ListOptions{})
		return last == nil && len(left.Items) == 0, nil
	})
	if err != nil {
		err = errors.Join(err, last)
	}
	return err
}

// CreateApps creates a namespace and its apps one after the other. CreateApps waits until every pod
// is Ready on its node and every Deployment has all its pods.
func CreateApps(ctx context.Context, client kubernetes.Interface, namespace string, apps []App) error {
	return CreateAppsInParallel(ctx, client, namespace, apps, 1)
}

// CreateAppsInParallel is like Apps but creates several apps in parallel, so the pods have a random order of age.
func CreateAppsInParallel(ctx context.Context, client kubernetes.Interface, namespace string, apps []App, atOnce int) error {
	if err := CreateNamespace(ctx, client, namespace); err != nil {
		return err
	}
	group, creating := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, a := range apps {
		group.Go(func() error {
			if err := a.create(creating, client, namespace); err != nil {
				return fmt.Errorf("creating %s/%s: %w", namespace, a.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, a := range apps {
		if err := a.waitUntilStable(ctx, client, namespace); err != nil {
			return fmt.Errorf("waiting for %s/%s: %w", namespace, a.Name, err)
		}
	}
	return nil
}

// CreateNamespace creates a namespace unless it exists, and its default ServiceAccount.
// If a namespace of that name is still being deleted, CreateNamespace waits and creates it again.
func CreateNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	api := client.CoreV1().Namespaces()
	err := WaitUntil(ctx, time.Minute, func() (bool, error) {
		_, err := api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return err == nil, err
		}
		old, err := api.Get(ctx, name, metav1.GetOptions{})
		if err == nil && old.DeletionTimestamp != nil {
			err = fmt.Errorf("an earlier namespace %s is still being deleted", name)
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	// The controller that makes it can be minutes late after a namespace of this name was deleted.
	// The API server refuses it for a moment, until it has seen that the earlier namespace is gone.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	err = WaitUntil(ctx, time.Minute, func() (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(name).Create(ctx, account, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return true, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("creating the default service account of %s: %w", name, err)
	}
	return nil
}
