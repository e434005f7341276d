package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

const namespace = "shop"

const demoConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: false
guards: {minPodAge: 0s}   # the demo's pods are seconds old
strategies:
  zones:
    type: ZoneSpread
    schedule: "0 * * * *"
    args: {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, by: owner}
`

// runDemo rebalances the seed scenario and fails unless Deployment d ends at 2/2/2. On a terminal, the cluster and the
// configuration stay available until Ctrl-C. The file report gets the plan as a page for a browser.
func runDemo(ctx context.Context, o controlplane.Options, report string, stderr *os.File) error {
	config, remove, err := writeDemoConfig()
	if err != nil {
		return err
	}
	defer remove()
	c, err := controlplane.Start(ctx, o)
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := runScenario(cancelOnFailure(ctx, c), c, o.Evenkeel, config, report, stderr); err != nil {
		return err
	}
	if os.Getenv("CI") == "true" || !term.IsTerminal(int(os.Stdout.Fd())) {
		return nil
	}
	fmt.Fprint(stderr, suggestedCommands(o.Evenkeel, c.Kubeconfig, config))
	return waitForInterrupt(ctx, c, stderr)
}

// writeDemoConfig writes the demo's configuration to a temporary file.
func writeDemoConfig() (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "evenkeel-demo-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(demoConfig), 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

// savedInput returns the file in which the demo saves the cluster as it is before any eviction.
func savedInput(config string) string { return filepath.Join(filepath.Dir(config), "before.json") }

// suggestedCommands returns commands to try in another terminal while the cluster is running. The
// cluster is balanced by then, so the commands about moves read the saved input.
func suggestedCommands(evenkeel, kubeconfig, config string) string {
	before, now := "-f "+savedInput(config), "--kubeconfig "+kubeconfig
	explain := "explain workload deployment/" + namespace + "/d "
	out := "\nTry next, in another terminal:\n"
	for _, s := range [...]struct{ about, command string }{
		{"the plan for the cluster as it was, with every line", "plan -o wide " + before},
		{"which pods of d it moved, and why the others stayed", explain + before},
		{"why all of them stay now", explain + now},
	} {
		out += fmt.Sprintf("\n  # %s\n  %s %s --config %s\n", s.about, evenkeel, s.command, config)
	}
	return out
}

func runScenario(ctx context.Context, c *controlplane.Cluster, evenkeel, config, report string, stderr *os.File) error {
	if err := seed.CreateNodes(ctx, c.Client, 3, 1); err != nil {
		return err
	}
	if err := seed.CreateApps(ctx, c.Client, namespace, seed.ThreeZoneApps([3]int{1, 1, 4}, 30)); err != nil {
		return err
	}
	if _, err := printPodsByZone(ctx, c, "BEFORE"); err != nil {
		return err
	}
	for _, command := range []struct {
		file string // for the output; empty for the terminal
		args []string
	}{
		{args: []string{"plan", "--save-input", savedInput(config)}},
		{report, []string{"plan", "-o", "html"}},
		{args: []string{"run", "--once"}},
	} {
		args := append(command.args, "--kubeconfig", c.Kubeconfig, "--config", config)
		if err := runCommand(ctx, evenkeel, args, command.file, stderr); err != nil {
			return err
		}
	}
	after, err := printPodsByZone(ctx, c, "AFTER")
	if err != nil {
		return err
	}
	if want := map[string]int{"zone-1": 2, "zone-2": 2, "zone-3": 2}; !maps.Equal(after, want) {
		return fmt.Errorf("pods of d per zone: %v, want %v", after, want)
	}
	fmt.Printf("\nThe plan as a page for a browser: %s\n", report)
	return nil
}

// runCommand runs a command of the program. Its output goes to a file, or to the terminal if file is empty.
func runCommand(ctx context.Context, evenkeel string, args []string, file string, stderr *os.File) error {
	cmd := exec.CommandContext(ctx, evenkeel, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, stderr
	to := ""
	if file != "" {
		f, err := os.Create(file)
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdout, to = f, " > "+file
	}
	fmt.Printf("\n$ evenkeel %s%s\n\n", strings.Join(args, " "), to)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fmt.Errorf("evenkeel %s: %w", args[0], err)
	}
	return nil
}

// printPodsByZone prints the number of pods of d per zone, read from the API server.
func printPodsByZone(ctx context.Context, c *controlplane.Cluster, when string) (map[string]int, error) {
	s, err := seed.PodsByZone(ctx, c.Client, namespace, "d")
	if err != nil {
		return nil, err
	}
	evictions, err := c.Evictions(namespace)
	if err != nil {
		return nil, err
	}
	fmt.Printf("\n%s: pods of Deployment d in zone-1/zone-2/zone-3: %d/%d/%d; evictions in the audit log: %d\n",
		when, s["zone-1"], s["zone-2"], s["zone-3"], len(evictions))
	return s, nil
}

// cancelOnFailure returns a context that ends when a component ends, with the component's error as its cause.
func cancelOnFailure(ctx context.Context, c *controlplane.Cluster) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case err := <-c.Failed():
			cancel(err)
		case <-ctx.Done():
		}
	}()
	return ctx
}
