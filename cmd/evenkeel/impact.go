package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/impact"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

type impactFlags struct {
	planningFlags
	failOn int
}

func newImpact(g *globalFlags) *cobra.Command {
	f := &impactFlags{}
	c := &cobra.Command{
		Use: "impact", Short: "Show how a zone failure affects each workload, and what helps", Args: commandline.NoArguments, Annotations: map[string]string{commandline.NamespaceOf: commandline.OfNothing},
		Long: "Show how many of each workload's replicas a zone failure would take down, and how busy the\n" +
			"remaining replicas would become. The command also says whether Evenkeel's moves, other evictions,\n" +
			"more replicas or more nodes would help. The command only makes plans, and evicts nothing.",
		Example: "  # How would a zone failure affect the workloads now?\n  evenkeel impact\n\n" +
			"  # Answer the same question for a snapshot\n  evenkeel impact -f examples/three-zones.yaml\n\n" +
			"  # Fail a pipeline if a workload would lose all or more than half of its replicas\n  evenkeel impact -f snapshot.yaml --fail-on-category 2",
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, g) },
	}
	fl := c.Flags()
	f.add(fl)
	f.whatIf.addTo(fl)
	fl.IntVar(&f.failOn, "fail-on-category", 0, "exit with 2 if a workload is in this failure category (1 to 4) or a worse one; category \"3 or 4\" (unknown usage) counts as 3, and a workload without a running replica counts as 1; after an error, the exit code is still 1")
	return c
}

func (f *impactFlags) run(cmd *cobra.Command, g *globalFlags) error {
	if cmd.Flags().Changed("fail-on-category") && (f.failOn < 1 || f.failOn > 4) {
		return fmt.Errorf("--fail-on-category: %d is not a failure category (want 1, 2, 3 or 4)", f.failOn)
	}
	g.logger(cmd)
	f.allSamples = true
	in, err := f.read(cmd, g, "")
	if err != nil {
		return err
	}
	g.progress.Start("planning for %d nodes and %d pods", len(in.snapshot.Nodes), len(in.snapshot.Pods))
	p := in.plan()
	advisor := in.advisor(p, maxPlansOfImpact)
	x := impact.Measure(advisor.Input)
	x.WhatIf = in.whatIf
	g.progress.Start("planning with more nodes and replicas")
	x.Advice = advisor.Capacity()
	advisor.CheckReplicas(&x)
	g.progress.Stop()
	if err := cmd.Context().Err(); err != nil {
		return fmt.Errorf("the command was interrupted: %w", err)
	}
	if err := report.Impact(cmd.OutOrStdout(), in.format, x, commandline.ReportOptions(cmd.OutOrStdout())); err != nil {
		return err
	}
	if inCategory(x, f.failOn) {
		return errFound
	}
	return nil
}

// maxPlansOfImpact bounds the plans for advice, besides limits.maxPlanTime.
const maxPlansOfImpact = 64

// inCategory reports whether a workload is in the failure category or a worse one.
func inCategory(x plan.Impact, category int) bool {
	for i := range category {
		if x.ByCategory[i] > 0 {
			return true
		}
	}
	return category >= 3 && x.ThreeOrFour > 0
}
