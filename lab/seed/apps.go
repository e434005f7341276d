package seed

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// CreateApps creates a namespace and its apps one after the other. CreateApps waits until every pod is Ready on its node and every
// Deployment has all its pods.
func CreateApps(ctx context.Context, client kubernetes.Interface, namespace string, apps []App) error {
	return CreateAppsInParallel(ctx, client, namespace, apps, 1)
}

// CreateAppsInParallel is like Apps but creates several apps in parallel, so the pods have a random order of age.
func CreateAppsInParallel(ctx context.Context, client kubernetes.Interface, namespace string, apps []App, atOnce int) error {
	if err := ensureNamespace(ctx, client, namespace); err != nil {
		return fmt.Errorf("creating namespace %s: %w", namespace, err)
	}
	if err := WaitUntil(ctx, time.Minute, func() (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	}); err != nil {
		return fmt.Errorf("waiting for the default service account of %s: %w", namespace, err)
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
