package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	stderr := os.Stderr // the lab redirects os.Stderr for its components
	if err := run(ctx, os.Args[1:], stderr); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stderr *os.File) error {
	if len(args) > 0 && args[0] == "peer" {
		return runComparison(ctx, args[1:], stderr)
	}
	var s settings
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.IntVar(&s.nodes, "nodes", 500, "fake nodes")
	fs.IntVar(&s.pods, "pods", 10000, "pods, in Deployments of 20")
	s.addFlags(fs, "bin/bench-rate")
	fs.IntVar(&s.maxEvictions, "at-most", 0, "maximum evictions of each program (0: unlimited)")
	if err := fs.Parse(args); err != nil {
		return err
	}
	s.work = filepath.Join(s.work, fmt.Sprintf("%d-%d-%d", s.nodes, s.pods, s.maxEvictions))
	switch step := fs.Arg(0); step {
	case "":
		return runAllSteps(ctx, s, args, stderr)
	case "publish":
		return publishRates(s, os.Stdout)
	case "seed":
		return seedCluster(ctx, s, stderr)
	default:
		program, manager, ok := strings.Cut(step, "/")
		if !ok {
			return fmt.Errorf("unknown step %q", step)
		}
		return measureRates(ctx, s, program, manager, stderr)
	}
}

func runAllSteps(ctx context.Context, s settings, args []string, stderr *os.File) error {
	if err := os.MkdirAll(s.work, 0o755); err != nil {
		return fmt.Errorf("creating the folder for results: %w", err)
	}
	steps := []string{"seed"}
	for _, m := range managers {
		for _, p := range programs {
			steps = append(steps, p+"/"+m)
		}
	}
	for _, step := range steps {
		if stepDone(s, step) {
			fmt.Fprintln(stderr, "bench: already done:", step)
			continue
		}
		if err := runStep(ctx, args, []string{step}, stderr); err != nil {
			return err
		}
	}
	return publishRates(s, os.Stdout)
}
