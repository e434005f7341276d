package releaseconfig

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
)

// AddNamespaceFlag adds --lease-namespace to a command that finds the release if the flag is not set.
func AddNamespaceFlag(fl *pflag.FlagSet, into *string) {
	fl.StringVar(into, "lease-namespace", os.Getenv("POD_NAMESPACE"),
		"namespace of Evenkeel's Lease, pause and state (default: the namespace of the only release in the cluster)")
}

// CheckNamespace returns an error if --lease-namespace is not the name of a namespace.
func CheckNamespace(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("--lease-namespace: %q is not a namespace (want lower case letters, digits and dashes)", name)
	}
	return nil
}

// Namespace returns the namespace of Evenkeel: the value of --lease-namespace, or else the namespace of the only
// release in the cluster. The error names the releases if there are several.
func Namespace(ctx context.Context, client kubernetes.Interface, fromFlag string) (string, error) {
	if fromFlag != "" {
		return fromFlag, CheckNamespace(fromFlag)
	}
	ctx, cancel := context.WithTimeout(ctx, connection.LookupTimeout)
	defer cancel()
	return findNamespace(ctx, client, time.Now())
}
