// Package testbed gives a package of tests a shared control plane, and configurations for the program under test.
//
// The package neither creates objects in the cluster nor checks anything.
package testbed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/podrunner"
)

// Evenkeel is the path of the program under test.
var Evenkeel = os.Getenv("EVENKEEL_BIN")

// Main runs the tests of a package on a new control plane and returns the exit code. Main calls ready with the cluster
// before the first test. Error messages name target, the make target that builds the programs. If a component fails,
// the test process exits.
func Main(m *testing.M, target string, ready func(context.Context, *controlplane.Cluster) error) int {
	return runTests(m, target, controlplane.Options{Evenkeel: Evenkeel}, ready)
}

// MainRunningPods is like Main. In addition, the pods of an installed Evenkeel run as processes of the program under
// test, except those with the annotation controlplane.Fake.
func MainRunningPods(m *testing.M, target string, ready func(context.Context, *controlplane.Cluster) error) int {
	var pods sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	defer pods.Wait()
	defer stop()
	return runTests(m, target, controlplane.Options{LocalPods: true}, func(_ context.Context, c *controlplane.Cluster) error {
		program, err := filepath.Abs(Evenkeel)
		if err != nil {
			return err
		}
		runner := podrunner.Runner{Cluster: c, Program: program}
		pods.Go(func() {
			if err := runner.Run(ctx); err != nil {
				fmt.Fprintln(os.Stdout, "testbed: running pods:", err)
			}
		})
		return ready(ctx, c)
	})
}

func runTests(m *testing.M, target string, o controlplane.Options, ready func(context.Context, *controlplane.Cluster) error) int {
	stderr := os.Stderr // the lab redirects os.Stderr for its components
	o.Kwok, o.Progress = os.Getenv("EVENKEEL_KWOK"), stderr
	o.Users = []controlplane.User{controlplane.Kubelet("n1")}
	if Evenkeel == "" || o.Kwok == "" {
		fmt.Fprintf(stderr, "testbed: set EVENKEEL_BIN and EVENKEEL_KWOK, or run `make %s`\n", target)
		return 1
	}
	ctx := context.Background()
	c, err := controlplane.Start(ctx, o)
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

// ConfigFile writes a configuration with the given sections and returns its path. By default, the configuration evicts
// pods of any age.
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
