// Package cleanup removes what a release of Evenkeel leaves in its namespace after it was uninstalled: the ConfigMaps
// of its state, of a pause, of approvals and of a trigger, and its Leases.
//
// The package decides when it is safe to remove them: only while the namespace has no Deployment and no CronJob of
// Evenkeel, and no process holds a Lease of the namespace. It does not know how hints are removed from nodes.
package cleanup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/internal/retry"
)

// formerConfigMaps are those in which earlier versions kept approved plans, plans that wait, and requests for a pass.
var formerConfigMaps = []string{"evenkeel-approval", "evenkeel-waiting-plan", "evenkeel-trigger"}

// ConfigMaps returns the names of the ConfigMaps that Evenkeel and its commands create in the namespace of a release,
// the pause last.
func ConfigMaps() []string {
	return slices.Concat(state.ConfigMapNames(), formerConfigMaps, []string{state.FormerPauseName})
}

// Leases returns the names of the Leases in the namespace of a release.
func Leases() []string { return []string{release.LeaseName, release.DryRunLeaseName} }

// Release removes the ConfigMaps and Leases of the release in a namespace.
type Release struct {
	Client    kubernetes.Interface
	Namespace string
	// Poll is the time between two attempts to read the Leases. It must be positive.
	Poll time.Duration
	// ClearHints removes the hints from the nodes. It limits its time itself. Nil leaves the nodes as they are.
	ClearHints func(context.Context) error
}

// Remove waits until no process holds a Lease, for at most wait. Then it removes the hints, and, within timeout, the
// Leases and the ConfigMaps. It continues after an error, because they do not depend on each other, and returns what it
// has deleted. If a release is installed, or a process still holds a Lease, nothing is removed, and a pause stays.
// Remove checks both again before it deletes, because removing the hints takes time.
func (r Release) Remove(ctx context.Context, wait, timeout time.Duration) (deleted []string, err error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err := r.WaitUntilIdle(waiting); err != nil {
		return nil, fmt.Errorf("nothing was removed: %w", err)
	}
	var notCleared error
	if r.ClearHints != nil {
		notCleared = r.ClearHints(ctx)
	}
	deleted, err = r.delete(ctx, timeout)
	return deleted, errors.Join(notCleared, err)
}

// WaitUntilIdle waits until no process holds a Lease of the release. If ctx ends before, the error names the holder. It
// does not wait for an installed release. Errors of the API server that may pass are repeated.
func (r Release) WaitUntilIdle(ctx context.Context) (last error) {
	tick := time.NewTicker(r.Poll)
	defer tick.Stop()
	for {
		err := r.checkUnused(ctx)
		if err == nil || retry.IsFinal(err) || errors.As(err, new(*installedError)) {
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

// installedError says that a Deployment or a CronJob of Evenkeel is in the namespace.
type installedError struct{ object, namespace string }

func (e *installedError) Error() string {
	return fmt.Sprintf("%s is in namespace %s, so a release of Evenkeel is installed (want it uninstalled first)", e.object, e.namespace)
}

// selector selects the Deployments and CronJobs of Evenkeel. The chart gives them this label whatever its values are.
const selector = "app.kubernetes.io/name=evenkeel"

// checkUnused returns an *installedError if a release is installed, and a *heldError if a process holds a Lease.
func (r Release) checkUnused(ctx context.Context) error {
	if err := r.checkInstalled(ctx); err != nil {
		return err
	}
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

// checkInstalled returns an *installedError if the namespace has a Deployment or a CronJob of Evenkeel that is not
// being deleted. Between the jobs of a CronJob, no process holds a Lease.
func (r Release) checkInstalled(ctx context.Context) error {
	options := metav1.ListOptions{LabelSelector: selector}
	deployments, err := r.Client.AppsV1().Deployments(r.Namespace).List(ctx, options)
	if err != nil {
		return fmt.Errorf("listing the Deployments of namespace %s: %w", r.Namespace, err)
	}
	for i := range deployments.Items {
		if d := &deployments.Items[i]; d.DeletionTimestamp == nil {
			return &installedError{"Deployment " + d.Name, r.Namespace}
		}
	}
	jobs, err := r.Client.BatchV1().CronJobs(r.Namespace).List(ctx, options)
	if err != nil {
		return fmt.Errorf("listing the CronJobs of namespace %s: %w", r.Namespace, err)
	}
	for i := range jobs.Items {
		if j := &jobs.Items[i]; j.DeletionTimestamp == nil {
			return &installedError{"CronJob " + j.Name, r.Namespace}
		}
	}
	return nil
}

// object is a Lease or a ConfigMap that exists.
type object struct {
	what   string // such as "ConfigMap evenkeel-pause"
	lease  bool
	delete func(context.Context) error
}

// newObject returns an object whose deletion fails if the object has changed since it was read.
func newObject(kind string, meta metav1.ObjectMeta, remove func(context.Context, string, metav1.DeleteOptions) error) object {
	unchanged := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &meta.UID, ResourceVersion: &meta.ResourceVersion}}
	return object{what: kind + " " + meta.Name, lease: kind == "Lease",
		delete: func(ctx context.Context) error { return remove(ctx, meta.Name, unchanged) }}
}

// read returns the Leases and then the ConfigMaps of the release. It returns those that it can read, and all errors.
func (r Release) read(ctx context.Context) (found []object, err error) {
	var errs []error
	add := func(kind string, meta *metav1.ObjectMeta, err error, remove func(context.Context, string, metav1.DeleteOptions) error) {
		switch {
		case err == nil:
			found = append(found, newObject(kind, *meta, remove))
		case !apierrors.IsNotFound(err):
			errs = append(errs, fmt.Errorf("reading a %s in namespace %s: %w", kind, r.Namespace, err))
		}
	}
	leases, maps := r.Client.CoordinationV1().Leases(r.Namespace), r.Client.CoreV1().ConfigMaps(r.Namespace)
	for _, name := range Leases() {
		lease, err := leases.Get(ctx, name, metav1.GetOptions{})
		add("Lease", &lease.ObjectMeta, err, leases.Delete)
	}
	for _, name := range ConfigMaps() {
		m, err := maps.Get(ctx, name, metav1.GetOptions{})
		add("ConfigMap", &m.ObjectMeta, err, maps.Delete)
	}
	return found, errors.Join(errs...)
}

// delete deletes the Leases and then the ConfigMaps within timeout, and returns what it has deleted, such as "ConfigMap
// evenkeel-pause". It deletes as much as possible, and returns all errors. It deletes nothing if the release is in use
// now, and no ConfigMap if a process has written a Lease meanwhile.
func (r Release) delete(ctx context.Context, timeout time.Duration) (deleted []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := r.read(ctx) // before the check: what a process writes after it is not deleted
	errs := []error{err}
	if err := r.checkUnused(ctx); err != nil {
		return nil, fmt.Errorf("no ConfigMap and no Lease was removed: %w", err)
	}
	for _, o := range found {
		err := o.delete(ctx)
		switch {
		case err == nil:
			deleted = append(deleted, o.what)
		case apierrors.IsConflict(err) && o.lease:
			return deleted, fmt.Errorf("the %s in namespace %s changed meanwhile, so another release uses it; the ConfigMaps stay: %w",
				o.what, r.Namespace, err)
		case !apierrors.IsNotFound(err):
			errs = append(errs, fmt.Errorf("deleting the %s in namespace %s: %w", o.what, r.Namespace, err))
		}
	}
	return deleted, errors.Join(errs...)
}
