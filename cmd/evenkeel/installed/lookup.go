package installed

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/internal/progress"
)

// Lookup finds the release that a command is about, and its configuration.
type Lookup struct {
	// Command is the command, which may have the flag --lease-namespace.
	Command *cobra.Command
	// Connect connects to the cluster.
	Connect func() (kubernetes.Interface, *rest.Config, error)
	// Progress says on a terminal what takes long. It is nil without a terminal.
	Progress *progress.Line
}

// Namespace returns the namespace of Evenkeel: the value of --lease-namespace, or else the namespace of the only
// release in the cluster. The error names the releases if there are several. If the value comes from --namespace or
// from the pod, and that namespace certainly has no release, Namespace returns an error that names the release
// elsewhere.
func (l *Lookup) Namespace(ctx context.Context, client kubernetes.Interface, fromFlag string) (string, error) {
	l.Progress.Start("looking for the release of Evenkeel")
	defer l.Progress.Stop()
	ctx, cancel := context.WithTimeout(ctx, connection.LookupTimeout)
	defer cancel()
	if fromFlag == "" {
		return findNamespace(ctx, client, time.Now())
	}
	if err := CheckNamespace(fromFlag); err != nil || l.Command.Flags().Changed(leaseNamespaceFlag) ||
		!hasNoRelease(ctx, client, fromFlag) {
		return fromFlag, err
	}
	return "", l.noReleaseError(ctx, client, fromFlag)
}

// hasNoRelease reports whether a namespace has neither a Lease nor a workload of Evenkeel. It reports false if a
// request fails.
func hasNoRelease(ctx context.Context, client kubernetes.Interface, namespace string) bool {
	for _, name := range [...]string{release.LeaseName, release.DryRunLeaseName} {
		if _, err := client.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return false
		}
	}
	installed, err := workloads(ctx, client, namespace)
	return err == nil && len(installed) == 0
}

func (l *Lookup) noReleaseError(ctx context.Context, client kubernetes.Interface, namespace string) error {
	from := podNamespace
	if l.Command.Flags().Changed("namespace") {
		from = "--namespace"
	}
	elsewhere := ""
	if found, err := Find(ctx, client, time.Now()); err == nil && len(found) > 0 {
		var names []string
		for _, r := range found {
			names = append(names, r.Namespace)
		}
		elsewhere = "; a release was found in namespace " + strings.Join(names, ", ")
	}
	return fmt.Errorf("namespace %s (%s) has no release of Evenkeel: neither a Lease %s or %s, nor a Deployment or CronJob with the label %s%s; "+
		"set --lease-namespace to the namespace of Evenkeel", namespace, from, release.LeaseName, release.DryRunLeaseName, selector, elsewhere)
}
