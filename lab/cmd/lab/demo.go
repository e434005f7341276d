package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

const namespace = "shop"

const demoConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: false
guards: {minPodAge: 0s}   # the demo's pods are seconds old
strategies:
- name: zones
  type: ZoneSpread
  schedule: "0 * * * *"
  args: {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, by: owner}
`

// demo levels the seed scenario and fails unless Deployment d ends at 2/2/2.
func demo(ctx context.Context, kwok, evenkeel string, stderr *os.File) error {
	c, err := controlplane.Start(ctx, controlplane.Options{Kwok: kwok, Progress: stderr})
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := show(ctx, c, evenkeel, stderr); err != nil {
		return err
	}
	if os.Getenv("CI") == "true" || !terminal(os.Stdout) {
		return nil
	}
	return hold(ctx, c, stderr)
}

func show(ctx context.Context, c *controlplane.Cluster, evenkeel string, stderr *os.File) error {
	if err := seed.Nodes(ctx, c.Client, 3, 1); err != nil {
		return err
	}
	if err := seed.Apps(ctx, c.Client, namespace, seed.Zones([3]int{1, 1, 4}, 30)); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "evenkeel-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(demoConfig), 0o600); err != nil {
		return err
	}
	if _, err := tell(ctx, c, "BEFORE"); err != nil {
		return err
	}
	for _, args := range [][]string{{"plan"}, {"run", "--once"}} {
		args = append(args, "--kubeconfig", c.Kubeconfig, "--config", config)
		fmt.Printf("\n$ evenkeel %s\n\n", args[0])
		cmd := exec.CommandContext(ctx, evenkeel, args...)
		cmd.Stdout, cmd.Stderr = os.Stdout, stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 10 * time.Second
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("evenkeel %s: %w", args[0], err)
		}
	}
	after, err := tell(ctx, c, "AFTER")
	if err != nil {
		return err
	}
	for zone, n := range after {
		if n != 2 {
			return fmt.Errorf("%s has %d pods of d, want 2", zone, n)
		}
	}
	return nil
}

// tell prints where the pods of d stand, as the API server says.
func tell(ctx context.Context, c *controlplane.Cluster, when string) (map[string]int, error) {
	s, err := seed.Spread(ctx, c.Client, namespace, "d")
	if err != nil {
		return nil, err
	}
	evictions, err := c.Evictions(namespace)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	fmt.Printf("\n%s: pods of Deployment d in zone-1/zone-2/zone-3: %d/%d/%d; evictions in the audit log: %d\n", when, s["zone-1"], s["zone-2"], s["zone-3"], len(evictions))
	return s, nil
}

func terminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
