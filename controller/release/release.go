// Package release finds the releases of Evenkeel in a cluster by their Leases.
//
// A release is one installation: the processes that share the Leases of one namespace. The package decides which
// namespaces have a release and which process holds its Lease. It also says which release is older, since only the
// oldest one that is active may evict. The package never writes.
package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
)

// The names of the Leases of a release, in its namespace.
const (
	LeaseName       = "evenkeel"         // of the process that evicts
	DryRunLeaseName = "evenkeel-dry-run" // of the process that leads a dry run
)

// VersionLabel is the label of a Lease with the version of the process that holds it, or held it last. The value of
// a label allows no +, so an underscore replaces it, as in the labels of Helm.
const VersionLabel = "evenkeel.io/version"

// maxLabelValue is the largest length of the value of a label.
const maxLabelValue = 63

// VersionLabelValue returns the version in the form that VersionLabel has on the objects of the chart.
func VersionLabelValue(version string) string {
	value := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, version)
	return strings.Trim(value[:min(len(value), maxLabelValue)], "_.-")
}

// Release is the installation of Evenkeel in a namespace.
type Release struct {
	Namespace string
	// Holder is the process that holds the Lease LeaseName, or "". Only the holder may evict.
	Holder string
	// DryRunHolder is the process that holds the Lease DryRunLeaseName, or "".
	DryRunHolder string
	// Version is the version of the process that held one of the Leases last, as VersionLabelValue returns it, or "".
	Version string
	// Renewed is the last renewal of any of the Leases. It is zero if no Lease was ever renewed.
	Renewed time.Time
}

// Find returns the releases of the cluster, sorted by namespace. A release without a holder counts: between the
// jobs of a CronJob, no process holds a Lease. The client needs the permission to list leases in all namespaces; a
// role can limit that permission to the names of the Leases.
func Find(ctx context.Context, client kubernetes.Interface, now time.Time) ([]Release, error) {
	byNamespace := map[string]*Release{}
	for _, name := range [...]string{LeaseName, DryRunLeaseName} {
		leases, err := listLeases(ctx, client, name)
		if err != nil {
			return nil, err
		}
		for i := range leases {
			lease := &leases[i]
			r := byNamespace[lease.Namespace]
			if r == nil {
				r = &Release{Namespace: lease.Namespace}
				byNamespace[lease.Namespace] = r
			}
			r.add(lease, now)
		}
	}
	var out []Release
	for _, r := range byNamespace {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Release) int { return cmp.Compare(a.Namespace, b.Namespace) })
	return out, nil
}

// NoLeaseError says that a namespace, which it names, has no Lease of a release.
type NoLeaseError string

func (e NoLeaseError) Error() string {
	return fmt.Sprintf("namespace %s has neither a Lease %s nor %s", string(e), LeaseName, DryRunLeaseName)
}

// In returns the release of a namespace. A namespace without its Leases has no release, which is an error.
func In(ctx context.Context, client kubernetes.Interface, namespace string, now time.Time) (Release, error) {
	r, found := Release{Namespace: namespace}, false
	for _, name := range [...]string{LeaseName, DryRunLeaseName} {
		lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			r.add(lease, now)
			found = true
		case !apierrors.IsNotFound(err):
			return r, fmt.Errorf("reading the Lease %s/%s: %w", namespace, name, err)
		}
	}
	if !found {
		return r, NoLeaseError(namespace)
	}
	return r, nil
}

// listLeases returns the Leases with this name in all namespaces.
func listLeases(ctx context.Context, client kubernetes.Interface, name string) ([]coordinationv1.Lease, error) {
	list, err := client.CoordinationV1().Leases(metav1.NamespaceAll).List(ctx,
		metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()})
	if err != nil {
		return nil, fmt.Errorf("listing the Leases %s of all namespaces: %w", name, err)
	}
	return slices.DeleteFunc(list.Items, func(l coordinationv1.Lease) bool { return l.Name != name }), nil // if the server ignored the selector
}

// Leader is the process that holds the Lease LeaseName in a namespace.
type Leader struct {
	Namespace, Holder string
}

// OlderLeader returns the leader of the oldest release whose Lease is held at the given time, if
// that release is older than the one in the namespace, and nil otherwise. The age of a release is
// that of its Lease, which the API server sets when the release leads for the first time. So two
// releases agree about their order, whatever their clocks say. A Lease is held if its renewal
// differs from now by at most leaseDuration. Its own duration does not count: whoever writes a
// Lease once must not stop evictions for longer than that.
func OlderLeader(ctx context.Context, client kubernetes.Interface, namespace string, now time.Time,
	leaseDuration time.Duration) (*Leader, error) {
	leases, err := listLeases(ctx, client, LeaseName)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(leases, func(a, b coordinationv1.Lease) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace))
	})
	for i := range leases {
		if leases[i].Namespace == namespace {
			return nil, nil
		}
		s := leases[i].Spec
		if s.HolderIdentity != nil && *s.HolderIdentity != "" && s.RenewTime != nil && now.Sub(s.RenewTime.Time).Abs() <= leaseDuration {
			return &Leader{leases[i].Namespace, *s.HolderIdentity}, nil
		}
	}
	return nil, fmt.Errorf("the Lease %s/%s is not among the Leases of all namespaces", namespace, LeaseName)
}

// add adds what one of the Leases says.
func (r *Release) add(lease *coordinationv1.Lease, now time.Time) {
	if lease.Name == LeaseName {
		r.Holder = HolderAt(lease, now)
	} else {
		r.DryRunHolder = HolderAt(lease, now)
	}
	if t := lease.Spec.RenewTime; t != nil && t.After(r.Renewed) {
		r.Renewed, r.Version = t.Time, lease.Labels[VersionLabel]
	}
}

// HolderAt returns the holder of a Lease at the given time, or "" if the Lease was released or has expired.
func HolderAt(lease *coordinationv1.Lease, now time.Time) string {
	s := lease.Spec
	if s.HolderIdentity == nil || s.RenewTime == nil || s.LeaseDurationSeconds == nil ||
		now.Sub(s.RenewTime.Time) > time.Duration(*s.LeaseDurationSeconds)*time.Second {
		return ""
	}
	return *s.HolderIdentity
}
