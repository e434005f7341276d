package installed

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/release"
)

// WarnWithoutLease prints a warning if the namespace has neither a Lease nor a dry run: the namespace is probably
// wrong. A pause in a wrong namespace stops no evictions, a plan does not show a pause or back-offs in another
// namespace, and apply could run in parallel with the leader of another namespace. WarnWithoutLease returns the holder
// of the Lease, and whether the holder is known.
func WarnWithoutLease(cmd *cobra.Command, client kubernetes.Interface, namespace string) (holder string, known bool) {
	ctx, cancel := context.WithTimeout(cmd.Context(), connection.LookupTimeout)
	defer cancel()
	lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, release.LeaseName, metav1.GetOptions{})
	switch {
	case err == nil:
		return (&leader.Lease{}).HolderOf(lease), true
	case !apierrors.IsNotFound(err):
		return "", false
	}
	dry, err := (&leader.Lease{Client: client, Namespace: namespace, DryRun: true}).Leader(ctx)
	if err == nil && dry != "" {
		return "", true
	}
	fmt.Fprintf(cmd.ErrOrStderr(),
		"evenkeel: warning: namespace %s has no Lease %s, so no `evenkeel run` has evicted pods from there; if Evenkeel runs in another namespace, set --lease-namespace\n",
		namespace, release.LeaseName)
	return "", false
}

// WarnOtherDeschedulers prints a warning if the holder of the Lease saw another program that evicts pods to move them.
// Commands that make Evenkeel evict call it.
func WarnOtherDeschedulers(cmd *cobra.Command, s leader.Status) {
	if s.OtherDeschedulers != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: another descheduler runs (%s): each may undo what the other does; let only one evict\n",
			s.OtherDeschedulers)
	}
}
