package landings

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	_ "github.com/evenkeel-project/evenkeel/lab/controlplane/linked"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const zones = 3

// lab is the control plane that all tests of this package share.
var lab *controlplane.Cluster

func TestMain(m *testing.M) {
	os.Exit(testbed.Main(m, "test-landings", func(_ context.Context, c *controlplane.Cluster) error {
		lab = c
		return nil
	}))
}

// seededNamespace is the namespace in which the last test created workloads.
var seededNamespace string

// seedCluster creates the nodes, and creates the apps in a namespace. No other namespace has pods.
func seedCluster(t *testing.T, ns string, nodes int, apps []seed.App) {
	t.Helper()
	must.Succeed(t, seed.CreateNodes(t.Context(), lab.Client, zones, nodes/zones))
	// A restarted scheduler visits the nodes in the order of their names.
	must.Succeed(t, lab.RestartScheduler(t.Context(), nil))
	if seededNamespace != "" {
		if err := seed.DeleteNamespace(t.Context(), lab.Client, seededNamespace); err != nil {
			t.Fatalf("deleting namespace %s: %v", seededNamespace, err)
		}
	}
	seededNamespace = ns
	begun := time.Now()
	must.Succeed(t, seed.CreateAppsInParallel(t.Context(), lab.Client, ns, apps, 8))
	pods := 0
	for _, a := range apps {
		pods += len(a.Nodes)
	}
	t.Logf("%d nodes in %d zones, %d Deployments with %d pods, seeded in %.0f s", nodes, zones, len(apps), pods,
		time.Since(begun).Seconds())
}

// runEvenkeel runs the program as the cluster's administrator and returns its standard output.
func runEvenkeel(t *testing.T, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testbed.Evenkeel, append(args, "--kubeconfig", lab.Kubeconfig)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("evenkeel %s: %v\n%s", strings.Join(args, " "), err, lastBytes(stderr.Bytes()))
	}
	return stdout.Bytes()
}

func lastBytes(b []byte) []byte { return b[max(0, len(b)-4000):] }
