package landings

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

const zones = 3

var (
	lab    *controlplane.Cluster
	binary = os.Getenv("EVENKEEL_BIN")
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	stderr := os.Stderr
	kwok := os.Getenv("EVENKEEL_KWOK")
	if binary == "" || kwok == "" {
		fmt.Fprintln(stderr, "landings: set EVENKEEL_BIN and EVENKEEL_KWOK, or run `make test-landings`")
		return 1
	}
	c, err := controlplane.Start(context.Background(), controlplane.Options{Kwok: kwok, Progress: stderr})
	if err != nil {
		fmt.Fprintln(stderr, "landings:", err)
		return 1
	}
	defer c.Stop()
	go func() {
		fmt.Fprintln(stderr, "landings:", <-c.Failed())
		c.Stop()
		os.Exit(1)
	}()
	lab = c
	return m.Run()
}

// furnished is the namespace of the last test that furnished the cluster.
var furnished string

// furnish makes sure of the nodes and puts apps into a namespace, the only one
// with pods.
func furnish(t *testing.T, ns string, nodes int, apps []seed.App) {
	t.Helper()
	if err := seed.Nodes(t.Context(), lab.Client, zones, nodes/zones); err != nil {
		t.Fatal(err)
	}
	// Started anew the scheduler walks the nodes in the order of their names, as
	// it does after any of its restarts.
	if err := lab.Reschedule(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if furnished != "" {
		if err := seed.Reset(t.Context(), lab.Client, furnished); err != nil {
			t.Fatalf("deleting namespace %s: %v", furnished, err)
		}
	}
	furnished = ns
	begun := time.Now()
	if err := seed.ManyApps(t.Context(), lab.Client, ns, apps, 8); err != nil {
		t.Fatal(err)
	}
	pods := 0
	for _, a := range apps {
		pods += len(a.On)
	}
	t.Logf("%d nodes in %d zones, %d Deployments with %d pods, seeded in %.0f s", nodes, zones, len(apps), pods, time.Since(begun).Seconds())
}

// configFile writes a configuration that evicts pods of any age.
func configFile(t *testing.T, rest string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ndryRun: false\nguards: {minPodAge: 0s}\n" + rest
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// evenkeel runs the program as the cluster's administrator and returns what it
// prints.
func evenkeel(t *testing.T, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append(args, "--kubeconfig", lab.Kubeconfig)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("evenkeel %s: %v\n%s", strings.Join(args, " "), err, tail(stderr.Bytes()))
	}
	return stdout.Bytes()
}

func tail(b []byte) []byte { return b[max(0, len(b)-4000):] }
