// Package testbed gives a package of tests the control plane that they share, and
// the program under test its configuration.
//
// It decides nothing about what is in the cluster, and never what a test wants.
package testbed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
)

// Evenkeel is the path of the program under test.
var Evenkeel = os.Getenv("EVENKEEL_BIN")

// Main runs a package's tests on a control plane of their own and returns the exit
// code. ready is given the cluster before the first test. target is the make target
// that builds what is needed. When a component ends by itself, the process does.
func Main(m *testing.M, target string, ready func(context.Context, *controlplane.Cluster) error) int {
	stderr := os.Stderr // the lab's components get another one
	kwok := os.Getenv("EVENKEEL_KWOK")
	if Evenkeel == "" || kwok == "" {
		fmt.Fprintf(stderr, "testbed: set EVENKEEL_BIN and EVENKEEL_KWOK, or run `make %s`\n", target)
		return 1
	}
	ctx := context.Background()
	c, err := controlplane.Start(ctx, controlplane.Options{Kwok: kwok, Progress: stderr})
	if err != nil {
		fmt.Fprintln(stderr, "testbed:", err)
		return 1
	}
	defer c.Stop()
	go func() {
		fmt.Fprintln(stderr, "testbed:", <-c.Failed())
		c.Stop()
		os.Exit(1)
	}()
	if err := ready(ctx, c); err != nil {
		fmt.Fprintln(stderr, "testbed:", err)
		return 1
	}
	return m.Run()
}

// ConfigFile writes a configuration that evicts, pods of any age, unless rest says
// otherwise, and returns its path.
func ConfigFile(t *testing.T, rest string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	text := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n" + rest
	if !strings.Contains(rest, "dryRun:") {
		text += "dryRun: false\n"
	}
	if !strings.Contains(rest, "guards:") {
		text += "guards: {minPodAge: 0s}\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
