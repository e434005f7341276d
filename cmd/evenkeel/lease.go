package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
)

// defaultLeaseTimeout is longer than a usual pass, because two jobs may start at the same time.
const defaultLeaseTimeout = 30 * time.Minute

func addLeaseNamespaceFlag(fl *pflag.FlagSet, into *string) {
	fl.StringVar(into, "lease-namespace", cmp.Or(os.Getenv("POD_NAMESPACE"), corev1.NamespaceDefault), "namespace for Evenkeel's Lease, pause and state")
}

// leaseIdentity returns the name of this process as the holder of a Lease: the name of its pod, or else of its host,
// and a random part. The chart sets POD_NAME, because with hostNetwork all pods of a node have the host name of the
// node. Two processes with the same identity would both lead. The random part tells processes on one host apart, as in
// kube-controller-manager, and a restarted container from the process before.
func leaseIdentity() string {
	name := os.Getenv("POD_NAME")
	if name == "" {
		name, _ = os.Hostname()
	}
	return cmp.Or(name, "unknown") + "_" + newRunID()
}

// newRunID returns 8 random hex digits.
func newRunID() string { return fmt.Sprintf("%08x", rand.Uint32()) }

func logWaiting(log *slog.Logger, namespace, holder string, atMost time.Duration) {
	log.Info("waiting for the Lease, which another process holds; if that process has died, the Lease becomes free within 20 seconds",
		"namespace", namespace, "holder", holder, "atMost", atMost)
}
