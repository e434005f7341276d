package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

func runComparison(ctx context.Context, args []string, stderr *os.File) error {
	var s comparison
	fs := flag.NewFlagSet("bench peer", flag.ContinueOnError)
	sizes := func(into *[]clusterSize, name, value, usage string) {
		*into, _ = parseSizes(value)
		fs.Func(name, usage+" (default "+value+")", func(v string) (err error) { *into, err = parseSizes(v); return err })
	}
	sizes(&s.dryOn, "dry", "500/10000,2000/40000,5000/100000,500/10000/mixed", "cluster sizes for planning, NODES/PODS[/mixed],...")
	sizes(&s.realOn, "real", "500/10000,500/10000/mixed", "cluster sizes for evicting until a round evicts nothing")
	sizes(&s.liveOn, "live", "500/10000,2000/40000,5000/100000", "cluster sizes for measuring memory during a few evictions")
	fs.IntVar(&s.dryRuns, "dry-runs", 3, "repetitions of each dry run")
	fs.IntVar(&s.realRuns, "real-runs", 3, "repetitions of each real run")
	fs.IntVar(&s.liveRuns, "live-runs", 3, "repetitions of each memory run")
	fs.IntVar(&s.liveMaxEvictions, "live-evictions", 100, "evictions of each memory run")
	fs.StringVar(&s.dryTarget, "dry-target", "a", "target of the dry runs")
	names := func(into *[]string, name, usage string) {
		fs.Func(name, usage+" (default all)", func(v string) error { *into = strings.Split(v, ","); return nil })
	}
	names(&s.programs, "programs", "measure only these programs, NAME,...")
	names(&s.targets, "targets", "measure only these targets of real runs, NAME,...")
	s.addFlags(fs, "bin/bench-peer")
	fs.BoolVar(&s.retry, "retry", false, "repeat failed runs")
	fs.StringVar(&s.snapshot, "snapshot", "", "measure on the cluster in this file, which evenkeel capture wrote, instead of the given sizes")
	fs.StringVar(&s.commit, "commit", "", "commit of evenkeel, for the published page")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if s.snapshot != "" {
		z, err := snapshotSize(s.snapshot)
		if err != nil {
			return err
		}
		for _, on := range []*[]clusterSize{&s.dryOn, &s.realOn, &s.liveOn} {
			if len(*on) > 0 {
				*on = []clusterSize{z}
			}
		}
	}
	switch step := fs.Arg(0); step {
	case "":
		return compareAll(ctx, s, append([]string{"peer"}, args...), stderr)
	case "publish":
		return publishComparison(s, os.Stdout)
	case "print":
		return printFigure(s.out, fs.Arg(1), os.Stdout)
	case "seed", dryPhase, realPhase, livePhase:
		return compareStep(ctx, s, fs.Args(), stderr)
	default:
		return fmt.Errorf("unknown step %q; want no step, publish, or print FIGURE", step)
	}
}

// compareStep runs one step in this process. A process can start only one control plane.
func compareStep(ctx context.Context, s comparison, step []string, stderr *os.File) error {
	on, err := parseSizes(step[1])
	if err != nil {
		return err
	}
	all, err := outstandingMeasurements(s, time.Now())
	if err != nil {
		return err
	}
	s = s.forSize(on[0])
	if step[0] == "seed" {
		if err := os.MkdirAll(s.work, 0o755); err != nil {
			return fmt.Errorf("creating the folder for results: %w", err)
		}
		return seedCluster(ctx, s.settings, stderr)
	}
	all = slices.DeleteFunc(all, func(m Measurement) bool { return !slices.Equal(m.stepArgs()[:len(step)], step) })
	if len(all) == 0 {
		return nil // all done
	}
	if step[0] == realPhase {
		return measureRealRun(ctx, s, all[0], stderr)
	}
	return measureSharedRuns(ctx, s, all, stderr)
}

// compareAll makes all outstanding measurements. A failed step does not stop the others.
func compareAll(ctx context.Context, s comparison, args []string, stderr *os.File) error {
	measurements, err := outstandingMeasurements(s, time.Now())
	if err != nil {
		return err
	}
	var failed []error
	begun := map[string]bool{}
	for _, c := range measurements {
		z := c.size()
		if begun[c.controlPlaneKey()] {
			continue
		}
		if !stepDone(s.forSize(z).settings, "seed") {
			if err := runStep(ctx, args, []string{"seed", z.String()}, stderr); err != nil {
				return errors.Join(append(failed, err)...)
			}
		}
		step := c.stepArgs()
		if c.Phase != realPhase {
			step = step[:2]
		}
		begun[c.controlPlaneKey()] = true
		failed = append(failed, runStep(ctx, args, step, stderr))
		if ctx.Err() != nil {
			return errors.Join(failed...)
		}
	}
	return errors.Join(append(failed, publishComparison(s, os.Stdout))...)
}

// runStep runs one step in a separate process.
func runStep(ctx context.Context, args, step []string, stderr *os.File) error {
	fmt.Fprintln(stderr, "bench:", strings.Join(step, " "))
	cmd := exec.CommandContext(ctx, os.Args[0], slices.Concat(args, step)...)
	cmd.Stdout, cmd.Stderr = stderr, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("step %s: %w; run the command again to continue with this step", strings.Join(step, " "), err)
	}
	return nil
}
