package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/controller/leader"
)

func addLeaseNamespaceFlag(fl *pflag.FlagSet, into *string) {
	fl.StringVar(into, "lease-namespace", cmp.Or(os.Getenv("POD_NAMESPACE"), corev1.NamespaceDefault), "namespace of Evenkeel's Lease, pause and state")
}

func checkNamespace(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("--lease-namespace: %q is not a namespace (want lower case letters, digits and dashes)", name)
	}
	return nil
}

// lookupTimeout bounds requests for information that a command can do without.
const lookupTimeout = 4 * time.Second

// warnWithoutLease prints a warning if the namespace has neither a Lease nor a dry run: the namespace is probably
// wrong. A pause in a wrong namespace stops no evictions, a plan does not show a pause or back-offs in another
// namespace, and apply could run in parallel with the leader of another namespace. warnWithoutLease returns the holder
// of the Lease, and whether the holder is known.
func warnWithoutLease(cmd *cobra.Command, client kubernetes.Interface, namespace string) (holder string, known bool) {
	ctx, cancel := context.WithTimeout(cmd.Context(), lookupTimeout)
	defer cancel()
	lease, err := client.CoordinationV1().Leases(namespace).Get(ctx, "evenkeel", metav1.GetOptions{})
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
		"evenkeel: warning: namespace %s has no Lease evenkeel, so no `evenkeel run` has evicted pods from there; if Evenkeel runs in another namespace, set --lease-namespace\n", namespace)
	return "", false
}

// warnWithoutLeader prints a warning if no process holds the Lease, because a pause then has no immediate effect.
func warnWithoutLeader(cmd *cobra.Command, client kubernetes.Interface, namespace string) {
	if holder, known := warnWithoutLease(cmd, client, namespace); known && holder == "" {
		fmt.Fprintf(cmd.ErrOrStderr(),
			"evenkeel: warning: no process holds the Lease evenkeel in namespace %s, so nothing evicts from there now; the pause applies to the next leader\n", namespace)
	}
}

// apiUser returns the user name under which the API server knows this client. If the API server returns no name,
// apiUser returns the operating system user, with a note.
func apiUser(ctx context.Context, client kubernetes.Interface) string {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	r, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err == nil && r.Status.UserInfo.Username != "" {
		return r.Status.UserInfo.Username
	}
	name := "user " + strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return name + " (user of this machine; the API server returned no user name)"
}

func leaseIdentity() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return name + "_" + newRunID()
}

// newRunID returns 8 random hex digits.
func newRunID() string { return fmt.Sprintf("%08x", rand.Uint32()) }
