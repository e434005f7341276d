// Command lab runs a real control plane with fake nodes on this machine, to try and to test Evenkeel.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/programs"
)

const kubeFlag = "folder of the control plane's programs (default: EVENKEEL_KUBE, or the one that make lab fills)"

const usage = `usage:
  lab up   [-nodes N] [-zones Z] [-scheduler-config FILE] [-evenkeel PATH] [-kwok PATH] [-kube DIR]
                                                    run a control plane with fake nodes until Ctrl-C; pods of
                                                    Evenkeel run as processes on this machine
  lab demo [-report FILE] [-evenkeel PATH] [-kwok PATH] [-kube DIR]
                                                    create an unbalanced cluster and rebalance it; the plan is written
                                                    to a file as a page for a browser
  lab drills [-short] [-run REGEXP] [-reps N] [-seed N] [-results FILE] [-keep DIR] [-evenkeel PATH] [-kwok PATH] [-kube DIR]
                                                    run Evenkeel while components fail and verify its actions
  lab programs -folder DIR RELEASE@VERSION...       find or download programs of the releases kube, etcd and kwok, and
                                                    print those that must be compiled`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	stderr := os.Stderr // the lab redirects os.Stderr for its components
	if err := run(ctx, os.Args[1:], stderr); err != nil {
		fmt.Fprintln(stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stderr *os.File) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "drills":
		return runDrills(ctx, args[1:], stderr)
	case "programs":
		return runPrograms(ctx, args[1:], stderr)
	}
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	kwok := fs.String("kwok", "bin/kwok", "path of kwok")
	kube := fs.String("kube", "", kubeFlag)
	evenkeel := fs.String("evenkeel", "bin/evenkeel", "path of evenkeel")
	nodes := fs.Int("nodes", 6, "fake nodes")
	zones := fs.Int("zones", 3, "zones")
	config := fs.String("scheduler-config", "", "KubeSchedulerConfiguration (default: kube-scheduler's defaults)")
	report := fs.String("report", "bin/demo.html", "file for the report of the demo's plan")
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "up":
		return runUp(ctx, upOptions{kube: *kube, kwok: *kwok, evenkeel: *evenkeel, nodes: *nodes, zones: *zones, schedulerConfig: *config}, stderr)
	case "demo":
		return runDemo(ctx, controlplane.Options{Evenkeel: *evenkeel, Kwok: *kwok, Programs: *kube, Progress: stderr}, *report, stderr)
	}
	return errors.New(usage)
}

// waitForInterrupt keeps the cluster running until Ctrl-C or until a component fails.
func waitForInterrupt(ctx context.Context, c *controlplane.Cluster, stderr *os.File) error {
	fmt.Fprintf(stderr, "\nThe cluster stays up until you press Ctrl-C. To use it, run:\n\n  export KUBECONFIG=%s\n\n", c.Kubeconfig)
	select {
	case err := <-c.Failed():
		return err
	case <-ctx.Done():
		return nil
	}
}

// runPrograms prints the releases whose programs must be compiled.
func runPrograms(ctx context.Context, args []string, stderr *os.File) error {
	fs := flag.NewFlagSet("programs", flag.ContinueOnError)
	folder := fs.String("folder", "bin", "folder; the programs of a release go into its subfolder RELEASE-VERSION")
	if err := fs.Parse(args); err != nil {
		return err
	}
	source := programs.Source{Mirror: os.Getenv("EVENKEEL_MIRROR"), Folder: *folder, Progress: stderr}
	missing, err := source.Provide(ctx, fs.Args())
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(missing, " "))
	return nil
}
