package installed

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
)

// leaseNamespaceFlag is the flag that names the namespace of the release.
const leaseNamespaceFlag = "lease-namespace"

// podNamespace is the environment variable with the namespace of the pod, which the chart sets.
const podNamespace = "POD_NAMESPACE"

// AddNamespaceFlag adds --lease-namespace to a command that finds the release if the flag is not set.
func AddNamespaceFlag(fl *pflag.FlagSet, into *string) {
	fl.StringVar(into, leaseNamespaceFlag, os.Getenv(podNamespace),
		"the release's namespace, which contains Evenkeel's Lease, pause and state (default: the namespace of the only release in the cluster)")
}

// CheckNamespace returns an error if --lease-namespace is not the name of a namespace.
func CheckNamespace(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("--lease-namespace: %q is not a namespace (want lower case letters, digits and dashes)", name)
	}
	return nil
}
