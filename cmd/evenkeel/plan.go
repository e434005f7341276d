package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/report"
)

type planFlags struct {
	planningFlags
	saveInput        string
	detailedExitCode bool
}

func newPlan(g *globalFlags) *cobra.Command {
	f := &planFlags{}
	c := &cobra.Command{
		Use: "plan", Short: "Show which pods would be moved, and why; evicts nothing", Args: rejectArguments,
		Example: "  evenkeel plan\n  evenkeel plan -f examples/three-zones.yaml\n  kubectl get nodes,pods,ns,svc,pdb,rs,deploy,sts,ds,jobs,cj,rc,pc -A -o json | evenkeel plan -f -",
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd, g) },
	}
	fl := c.Flags()
	f.add(fl)
	fl.StringVar(&f.saveInput, "save-input", "", "write the input of the plan to this file (JSON), to plan on it again with -f")
	fl.BoolVar(&f.detailedExitCode, "detailed-exitcode", false,
		"exit with 2 if moves are planned, and with 1 if a strategy or the hints lack usage data")
	return c
}

func (f *planFlags) run(cmd *cobra.Command, g *globalFlags) error {
	log, begun := g.logger(cmd), time.Now()
	j, err := f.parse(cmd)
	if err != nil {
		return err
	}
	objects, err := f.input.objects(cmd, g)
	if err != nil {
		return err
	}
	if f.saveInput != "" {
		if err := saveSnapshot(f.saveInput, objects, cluster.JSON); err != nil {
			return err
		}
	}
	s, err := f.input.buildSnapshot(objects)
	if err != nil {
		return err
	}
	by := planner.New(j.conf.PlannerOptions())
	if s, err = withPredictedHints(by, s); err != nil {
		return err
	}
	st, err := f.input.state(s)
	if err != nil {
		return err
	}
	observed := time.Now()
	p := by.Plan(s, st, j.goals(s), s.TakenAt)
	log.Debug("planned", "moves", len(p.Moves), "minEvictions", p.Bound.MinEvictions, "observing", observed.Sub(begun), "planning",
		time.Since(observed))
	if err := report.Plan(cmd.OutOrStdout(), j.format, p, report.Options{Evicts: !j.conf.DryRun}); err != nil {
		return err
	}
	switch {
	case !f.detailedExitCode:
		return nil
	case len(p.Moves) > 0:
		return errMovesPlanned
	}
	return unknownUsageErrors(p, j.due) // callers read 0 as: nothing to move
}

// saveSnapshot writes the snapshot to a temporary file and renames that file. A reader of path never sees an
// incomplete snapshot.
func saveSnapshot(path string, o *cluster.Objects, format cluster.Format) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".evenkeel-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, unwrapPathError(err))
	}
	defer os.Remove(tmp.Name())
	if err := writeAndClose(tmp, o, format); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("writing %s: it is a directory", path)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("writing %s: %w", path, unwrapPathError(err))
	}
	return nil
}

// unwrapPathError removes the file name from an error, because it is the name of a temporary file.
func unwrapPathError(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

func writeAndClose(f io.WriteCloser, o *cluster.Objects, format cluster.Format) error {
	if err := cluster.Write(f, o, format); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
