package releaseconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/controller/release"
)

// setNamespace is the remedy if the namespace of Evenkeel is not known.
const setNamespace = "; set --lease-namespace to the namespace of Evenkeel"

// ErrNoRelease says that the cluster has no release. Then there is neither a pause nor a saved state.
var ErrNoRelease = errors.New("no release of Evenkeel was found: no namespace has a Lease " + release.LeaseName + " or " +
	release.DryRunLeaseName + setNamespace)

// findNamespace returns the namespace of the only release in the cluster. The error names the releases if there are
// several.
func findNamespace(ctx context.Context, client kubernetes.Interface, now time.Time) (string, error) {
	found, err := release.Find(ctx, client, now)
	switch {
	case apierrors.IsForbidden(err):
		return "", fmt.Errorf("the release of Evenkeel cannot be found: permission to list leases in all namespaces is missing%s: %w",
			setNamespace, err)
	case err != nil:
		return "", fmt.Errorf("the release of Evenkeel cannot be found%s: %w", setNamespace, err)
	case len(found) == 0:
		return "", ErrNoRelease
	case len(found) > 1:
		return "", severalError(found, now)
	}
	return found[0].Namespace, nil
}

func severalError(found []release.Release, now time.Time) error {
	var text []string
	idle := ""
	for _, r := range found {
		text = append(text, fmt.Sprintf("in namespace %s (%s)", r.Namespace, leaderText(r, now)))
		if r.Holder == "" && r.DryRunHolder == "" {
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
