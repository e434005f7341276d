// Command bench compares the eviction rates of Evenkeel and of the kubernetes-sigs descheduler. Both programs run on
// the same unbalanced cluster, a real control plane with fake nodes. The controller-manager has either default or tuned
// settings.
//
// With the argument peer, the command also compares planning time, CPU and memory on several
// cluster sizes, and the imbalance that remains after both programs stop evicting. With the
// argument consolidation, the command compares how many nodes both programs empty, and with how
// many evictions. With the argument commits, the command compares Go benchmarks of two commits.
//
// All counts come from the audit log of the API server. Each step stores its result in a folder, and an interrupted run
// continues after the last finished step. The command itself evicts nothing.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
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
	if len(args) > 0 && args[0] == "consolidation" {
		return runConsolidation(ctx, args[1:], stderr)
	}
	if len(args) > 0 && args[0] == "commits" {
		return runCommits(ctx, args[1:], os.Stdout)
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

// settings are the flags of the command. Each step runs in a separate process with the same flags.
type settings struct {
	nodes, pods    int
	shape          string // see newObjects
	snapshot       string // file to seed; empty to generate the cluster
	work, out      string
	evenkeel, peer string
	kwok           string
	maxEvictions   int
	limit          time.Duration
}

func (s *settings) addFlags(fs *flag.FlagSet, work string) {
	fs.StringVar(&s.work, "work", work, "folder for the results of finished steps")
	fs.StringVar(&s.out, "out", "docs/benchmarks", "folder for the published results")
	fs.StringVar(&s.evenkeel, "evenkeel", "bin/evenkeel", "path of evenkeel")
	fs.StringVar(&s.peer, "peer", "bin/descheduler", "path of the descheduler")
	fs.StringVar(&s.kwok, "kwok", "bin/kwok", "path of kwok")
	fs.DurationVar(&s.limit, "limit", 30*time.Minute, "time limit for each start of a program")
}

func (s settings) resultPath(step string) string {
	return filepath.Join(s.work, strings.ReplaceAll(step, "/", "-")+".json")
}

func stepDone(s settings, step string) bool {
	_, err := os.Stat(s.resultPath(step))
	return err == nil
}

// writeJSON writes a result atomically, so an interrupted step has no result.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	part := path + ".part"
	return errors.Join(os.WriteFile(part, append(data, '\n'), 0o644), os.Rename(part, path))
}

// programs and managers are the rows of the comparison, in the order of the table.
var (
	programs = []string{"peer", "evenkeel"}
	managers = []string{"default", "tuned"}
)
