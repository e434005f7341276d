package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/evenkeel-project/evenkeel/lab/drills"
)

// runDrills runs drills.
func runDrills(ctx context.Context, args []string, stderr *os.File) error {
	o := drills.Options{Table: os.Stdout, Progress: stderr}
	fs := flag.NewFlagSet("drills", flag.ContinueOnError)
	fs.StringVar(&o.Kwok, "kwok", "bin/kwok", "path of kwok")
	fs.StringVar(&o.Programs, "kube", "", kubeFlag)
	fs.StringVar(&o.Evenkeel, "evenkeel", "bin/evenkeel", "path of evenkeel")
	fs.BoolVar(&o.Short, "short", false, "a few repetitions of the cheap drills")
	fs.IntVar(&o.Reps, "reps", 0, "repetitions of each drill (default: the drill's own number)")
	fs.Uint64Var(&o.Seed, "seed", 1, "seed that decides what breaks and when")
	fs.StringVar(&o.Results, "results", "", "results file; drills that passed according to it are not run again")
	fs.StringVar(&o.Keep, "keep", "", "folder for the output of processes when a drill fails")
	run := fs.String("run", "", "drills to run, as a regular expression over "+strings.Join(drills.Names(), ", "))
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *run != "" {
		var err error
		if o.Run, err = regexp.Compile(*run); err != nil {
			return fmt.Errorf("-run: %w", err)
		}
	}
	return drills.Run(ctx, o)
}
