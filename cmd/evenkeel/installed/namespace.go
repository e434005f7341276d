package installed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/observe"
)

// setNamespace is the remedy if the namespace of Evenkeel is not known.
const setNamespace = "; set --lease-namespace to the namespace of Evenkeel"

// ErrNoRelease says that the cluster has no release. Then there is neither a pause nor a saved state.
var ErrNoRelease = errors.New("no release of Evenkeel was found: no namespace has a Lease " + release.LeaseName + " or " +
	release.DryRunLeaseName + setNamespace)

// Found is a release in the cluster.
type Found struct {
	release.Release
	// Installed reports whether its namespace has a Deployment or CronJob of Evenkeel. It is false if these cannot be
	// listed.
	Installed bool
}

// idle reports whether no process leads the release.
func (f *Found) idle() bool { return f.Holder == "" && f.DryRunHolder == "" }

// Find returns the releases of the cluster, sorted by namespace: the namespaces with a Lease or with a workload of
// Evenkeel. A Lease that no process holds does not count if its namespace has no workload and another one has: an
// uninstalled release may have left it. Without the permission to list workloads, only Leases count.
func Find(ctx context.Context, client kubernetes.Interface, now time.Time) ([]Found, error) {
	found, err := withLease(ctx, client, now)
	if err != nil {
		return nil, err
	}
	installed, err := workloads(ctx, client, metav1.NamespaceAll)
	if err != nil || len(installed) == 0 {
		return found, nil
	}
	for i := range found {
		found[i].Installed = slices.ContainsFunc(installed, func(w workload) bool { return w.namespace == found[i].Namespace })
	}
	found = slices.DeleteFunc(found, func(f Found) bool { return f.idle() && !f.Installed })
	for _, w := range installed {
		if !slices.ContainsFunc(found, func(f Found) bool { return f.Namespace == w.namespace }) {
			found = append(found, Found{release.Release{Namespace: w.namespace}, true})
		}
	}
	slices.SortFunc(found, func(a, b Found) int { return cmp.Compare(a.Namespace, b.Namespace) })
	return found, nil
}

// withLease returns the releases that have a Lease.
func withLease(ctx context.Context, client kubernetes.Interface, now time.Time) ([]Found, error) {
	all, err := release.Find(ctx, client, now)
	var out []Found
	for _, r := range all {
		out = append(out, Found{Release: r})
	}
	return out, err
}

// findNamespace returns the namespace of the only release in the cluster. The error names the releases if there are
// several.
func findNamespace(ctx context.Context, client kubernetes.Interface, now time.Time) (string, error) {
	found, err := Find(ctx, client, now)
	switch {
	case apierrors.IsForbidden(err):
		return "", fmt.Errorf("the release of Evenkeel cannot be found: permission to list leases in all namespaces is missing%s: %w",
			setNamespace, err)
	case err != nil:
		return "", fmt.Errorf("looking for the release of Evenkeel: %w", observe.PlainError(err))
	case len(found) == 0:
		return "", ErrNoRelease
	case len(found) > 1:
		return "", severalError(found, now)
	}
	return found[0].Namespace, nil
}

func severalError(found []Found, now time.Time) error {
	var text []string
	idle := ""
	for _, r := range found {
		text = append(text, fmt.Sprintf("in namespace %s (%s)", r.Namespace, leaderText(r.Release, now)))
		if r.idle() && !r.Installed {
			idle = cmp.Or(idle, r.Namespace)
		}
	}
	remedy := setNamespace
	if idle != "" {
		remedy += fmt.Sprintf("; if the release in %s was uninstalled, delete its Leases: kubectl -n %s delete lease %s %s --ignore-not-found",
			idle, idle, release.LeaseName, release.DryRunLeaseName)
	}
	return SeveralError(fmt.Sprintf("%d releases of Evenkeel were found: %s%s", len(found), strings.Join(text, ", "), remedy))
}

// SeveralError is the error that asks for one of several releases.
type SeveralError string

func (s SeveralError) Error() string { return string(s) }

// leaderText describes which process leads a release now.
func leaderText(r release.Release, now time.Time) string {
	switch {
	case r.Holder != "":
		return "led by " + r.Holder
	case r.DryRunHolder != "":
		return "a dry run, led by " + r.DryRunHolder
	case r.Renewed.IsZero():
		return "no leader now"
	}
	return fmt.Sprintf("no leader now, last renewed %s ago", now.Sub(r.Renewed).Round(time.Second))
}
