// Package cleanup removes what a release of Evenkeel leaves in its namespace after it was uninstalled: the ConfigMaps
// of its state, of a pause, of approvals and of a trigger, and its Leases.
//
// The package decides when it is safe to remove them: only while no process holds a Lease of the namespace. It does
// not know how hints are removed from nodes.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/controller/trigger"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/retry"
)

// ConfigMaps returns the names of the ConfigMaps that Evenkeel and its commands create in the namespace of a release,
// the pause last.
func ConfigMaps() []string {
	return append(state.ConfigMapNames(), approval.ConfigMapName, waiting.ConfigMapName, trigger.ConfigMapName, state.PauseName)
}

// Leases returns the names of the Leases in the namespace of a release.
func Leases() []string { return []string{release.LeaseName, release.DryRunLeaseName} }

// Release removes the ConfigMaps and Leases of the release in a namespace.
type Release struct {
	Client    kubernetes.Interface
	Namespace string
	// Poll is the time between two attempts to read the Leases. It must be positive.
	Poll time.Duration
	// ClearHints removes the hints from the nodes. Nil leaves the nodes as they are.
	ClearHints func(context.Context) error
}

// Remove waits until no process holds a Lease, for at most wait. Then it removes the hints, and also the Leases and the
// ConfigMaps, each of the two within timeout. It continues after an error, because they do not depend on each other,
// and returns what it has deleted. If a process still holds a Lease, nothing is removed, and a pause stays.
func (r Release) Remove(ctx context.Context, wait, timeout time.Duration) (deleted []string, err error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err := r.WaitUntilIdle(waiting); err != nil {
		return nil, fmt.Errorf("nothing was removed: %w", err)
	}
	notCleared := r.clearHints(ctx, timeout)
	deleted, err = r.delete(ctx, timeout)
	return deleted, errors.Join(notCleared, err)
}

// WaitUntilIdle waits until no process holds a Lease of the release. If ctx ends before, the error names the holder.
// Errors of the API server that may pass are repeated.
func (r Release) WaitUntilIdle(ctx context.Context) (last error) {
	tick := time.NewTicker(r.Poll)
	defer tick.Stop()
	for {
		err := r.busy(ctx)
		if err == nil || retry.IsFinal(err) {
			return err
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return last
		case <-tick.C: // a holder that is killed never releases its Lease, so no event tells that the Lease has expired
		}
	}
}

// heldError says that a process holds a Lease.
type heldError struct{ lease, namespace, holder string }

func (e *heldError) Error() string {
	return fmt.Sprintf("%s still holds the Lease %s in namespace %s; is another release in this namespace?", e.holder, e.lease, e.namespace)
}

// busy returns a *heldError if a process holds a Lease of the release.
func (r Release) busy(ctx context.Context) error {
	for _, name := range Leases() {
		holder, err := (&leader.Lease{Client: r.Client, Namespace: r.Namespace, DryRun: name == release.DryRunLeaseName}).Leader(ctx)
		if err != nil {
			return err
		}
		if holder != "" {
			return &heldError{name, r.Namespace, holder}
		}
	}
	return nil
}

// clearHints removes the hints from the nodes within timeout.
func (r Release) clearHints(ctx context.Context, timeout time.Duration) error {
	if r.ClearHints == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return r.ClearHints(ctx)
}

// delete deletes the Leases and then the ConfigMaps within timeout, and returns what it has deleted, such as "ConfigMap
// evenkeel-pause". It deletes as much as possible, and returns all errors.
func (r Release) delete(ctx context.Context, timeout time.Duration) (deleted []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var errs []error
	record := func(what string, err error) {
		switch {
		case err == nil:
			deleted = append(deleted, what)
		case !apierrors.IsNotFound(err):
			errs = append(errs, fmt.Errorf("deleting the %s in namespace %s: %w", what, r.Namespace, err))
		}
	}
	for _, name := range Leases() {
		record("Lease "+name, r.Client.CoordinationV1().Leases(r.Namespace).Delete(ctx, name, metav1.DeleteOptions{}))
	}
	for _, name := range ConfigMaps() {
		record("ConfigMap "+name, r.Client.CoreV1().ConfigMaps(r.Namespace).Delete(ctx, name, metav1.DeleteOptions{}))
	}
	return deleted, errors.Join(errs...)
}
