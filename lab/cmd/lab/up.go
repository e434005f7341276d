package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/podrunner"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

type upOptions struct {
	kube            string // a folder; see controlplane.Options.Programs
	kwok, evenkeel  string
	nodes, zones    int
	schedulerConfig string // a file; empty for the defaults
}

// runUp runs a control plane with fake nodes until Ctrl-C. The pods of an installed Evenkeel run as processes.
func runUp(ctx context.Context, u upOptions, stderr *os.File) error {
	if u.zones < 1 || u.nodes < u.zones || u.nodes%u.zones != 0 {
		return fmt.Errorf("%d nodes cannot be divided evenly into %d zones", u.nodes, u.zones)
	}
	program, err := filepath.Abs(u.evenkeel)
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("finding the program that the pods of Evenkeel run (build it with `make build`, or set -evenkeel): %w", err)
	}
	o := controlplane.Options{Programs: u.kube, Kwok: u.kwok, LocalPods: true, Progress: stderr}
	if u.schedulerConfig != "" {
		if o.SchedulerConfig, err = os.ReadFile(u.schedulerConfig); err != nil {
			return err
		}
	}
	c, err := controlplane.Start(ctx, o)
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := seed.CreateNodesWithStatus(ctx, c.Client, u.zones, u.nodes/u.zones, c.KubeletStatus()); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "\nIf you install the chart of Evenkeel, its pods run as processes of %s.\n", program)
	ctx, stop := context.WithCancel(ctx)
	pods := podrunner.Runner{Cluster: c, Program: program, Progress: stderr}
	ended := make(chan error, 1)
	go func() { ended <- pods.Run(ctx) }()
	err = waitForInterrupt(ctx, c, stderr)
	stop()
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}
