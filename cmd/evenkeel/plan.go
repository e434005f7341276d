package main

import (
	"time"

	"github.com/spf13/cobra"

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
		"exit with 2 if moves are planned that a pass executes or a person may approve; 1 (an error, nothing could be judged, or no usage data for a strategy that is due or for hints) takes precedence")
	return c
}

func (f *planFlags) run(cmd *cobra.Command, g *globalFlags) error {
	log, begun := g.logger(cmd), time.Now()
	in, err := f.read(cmd, g, f.saveInput)
	if err != nil {
		return err
	}
	observed := time.Now()
	p := in.planner.Plan(in.snapshot, in.state, in.goals, in.snapshot.TakenAt)
	log.Debug("planned", "moves", len(p.Moves), "minEvictions", p.Bound.MinEvictions, "observing", observed.Sub(begun), "planning",
		time.Since(observed))
	if err := report.Plan(cmd.OutOrStdout(), in.format, p, report.Options{Evicts: !in.conf.DryRun}); err != nil {
		return err
	}
	if !f.detailedExitCode {
		return nil
	}
	if err := unjudgedErrors(p, in.due); err != nil {
		return err // an incomplete answer: callers read 0 as nothing to move, and 2 as all that should move
	}
	if waiting := p.ForApproval(); len(p.Moves) > 0 || waiting != nil && len(waiting.Moves) > 0 {
		return errMovesPlanned
	}
	return nil
}
