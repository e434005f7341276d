package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/report/view"
)

type planFlags struct {
	planningFlags
	saveInput        string
	comparePolicy    string
	detailedExitCode bool
	noHeaders        bool
	advise           bool
	filter           plan.Filter
}

func newPlan(g *globalFlags) *cobra.Command {
	f := &planFlags{}
	c := &cobra.Command{
		Use: "plan", Short: "Show which pods a pass would move now, and why", Args: commandline.NoArguments, Annotations: map[string]string{commandline.NamespaceOf: commandline.OfNothing},
		Long: "Show which pods Evenkeel would move now, and why. The command evicts nothing.\n\n" +
			"By default, the command plans for the current cluster; with -f, the command plans for a saved\n" +
			"snapshot. With -o yaml or json, the command prints a RebalancePlan. If the strategies have\n" +
			"different modes, the command prints a List that contains a RebalancePlan for each mode.",
		Example: "  # What would the release do now?\n  evenkeel plan\n\n  # Save a plan, review it, and execute it\n  evenkeel plan -o yaml > plan.yaml\n  evenkeel apply plan.yaml   # or kubectl create -f plan.yaml\n\n" +
			"  # Which violations of a descheduler policy would remain after this plan?\n  evenkeel plan --compare-policy policy.yaml\n\n" +
			"  # Which pods would find no node without n1, and what would a pass do then?\n  evenkeel plan --without-node n1\n\n" +
			"  # Plan for a snapshot, and for objects that kubectl prints\n  evenkeel plan -f examples/three-zones.yaml\n  kubectl get nodes,pods,ns,svc,pdb,quota,limits,sa,rs,deploy,sts,ds,jobs,cj,rc,pc -A -o json |\n    evenkeel plan -f -",
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, g) },
	}
	fl := c.Flags()
	f.add(fl)
	f.whatIf.addTo(fl)
	commandline.AddNoHeaders(fl, &f.noHeaders)
	commandline.AddFilter(fl, &f.filter)
	fl.StringVar(&f.saveInput, "save-input", "", "write the input of the plan to this JSON file, to plan on it again with -f and the same --config")
	fl.StringVar(&f.comparePolicy, "compare-policy", "",
		"file with a descheduler policy or the descheduler chart's values; list the violations of this policy, and what the plan does about each of them; - means standard input")
	fl.BoolVar(&f.advise, "advise", false, "also say how many new nodes would help unmet goals and Pending pods; the command makes at most 8 more plans, within limits.maxPlanTime")
	fl.BoolVar(&f.detailedExitCode, "detailed-exitcode", false,
		"exit with 2 if the plan has moves that a pass would execute or that a person may approve; the exit code is still 1 after an error, if nothing could be judged, or if usage data is missing for a strategy that is due or for hints")
	return c
}

func (f *planFlags) run(cmd *cobra.Command, g *globalFlags) error {
	log, begun := g.logger(cmd), time.Now()
	var compared *comparedPolicy
	if f.comparePolicy != "" {
		if change, err := f.whatIf.change(); f.advise || err == nil && !change.IsEmpty() {
			return errors.New("--compare-policy cannot be used with --advise, --without-node, --zone-down or --add-node")
		}
		if !f.filter.IsEmpty() {
			return errors.New("--compare-policy cannot be used with --show-namespace, --show-node or --show-strategy, which select moves of a plan")
		}
		name, data, err := commandline.ReadFile(f.comparePolicy, cmd.InOrStdin(), commandline.MaxFileBytes)
		if err != nil {
			return fmt.Errorf("reading the policy to compare with: %w", err)
		}
		if compared, err = readPolicy(name, data); err != nil {
			return err
		}
		f.allSamples = true
	}
	f.allSamples = f.allSamples || !f.filter.IsEmpty() // so that the pods that stay can be selected
	repeated := newRepeatedFlags(cmd)
	in, err := f.read(cmd, g, f.saveInput)
	if err != nil {
		return err
	}
	if err := in.checkFilter(&f.filter); err != nil {
		return err
	}
	observed := time.Now()
	g.progress.Start("planning for %d nodes and %d pods", len(in.snapshot.Nodes), len(in.snapshot.Pods))
	p := in.plan()
	log.Debug("planned", "moves", len(p.Moves), "minEvictions", p.Bound.MinEvictions, "observing", observed.Sub(begun), "planning",
		time.Since(observed))
	if f.advise {
		g.progress.Start("planning with more nodes")
		advice := in.advisor(p, maxPlansOfAdvice).Capacity()
		if in.whatIf == nil {
			in.whatIf = &plan.WhatIf{Gone: []plan.PodRef{}, Pods: []plan.PodFit{}}
		}
		in.whatIf.Advice = &advice
	}
	g.progress.Stop()
	if err := cmd.Context().Err(); err != nil {
		return fmt.Errorf("the plan was interrupted: %w", err)
	}
	if in.objects.StoppedAt = p.StoppedAt; f.saveInput != "" && p.StoppedAt > 0 && in.whatIf == nil {
		if err := saveSnapshot(f.saveInput, in.objects, cluster.JSON); err != nil {
			return err
		}
	}
	noRelease := len(f.input.files) == 0 && f.input.namespace == "" && in.objects.PlannerStateError == ""
	if noRelease {
		repeated.withoutRelease()
	}
	shown := in.reportContext(len(f.input.files) > 0)
	shown.NoRelease, shown.Repeat = noRelease, repeated.addTo
	shown.OtherConfig = f.leaderHasOtherConfig(cmd, g, p.ConfigHash)
	if err := f.write(cmd, in, shown, compared, p); err != nil {
		return err
	}
	if !f.detailedExitCode {
		return nil
	}
	if err := unjudgedErrors(p, in.due); err != nil {
		return err // an incomplete answer: callers read 0 as nothing to move, and 2 as all that should move
	}
	if waiting := p.ForApproval(); len(p.Moves) > 0 || waiting != nil && len(waiting.Moves) > 0 {
		return errFound
	}
	return nil
}

// leaderHasOtherConfig reports whether the leader is known to execute only plans with another configuration.
func (f *planFlags) leaderHasOtherConfig(cmd *cobra.Command, g *globalFlags, hash string) bool {
	if len(f.input.files) > 0 || f.input.namespace == "" {
		return false
	}
	client, _, err := g.client()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), connection.LookupTimeout)
	defer cancel()
	s, err := (&leader.Lease{Client: client, Namespace: f.input.namespace}).Status(ctx)
	return err == nil && s.HasOtherConfig(hash)
}

// maxPlansOfAdvice bounds the plans of --advise.
const maxPlansOfAdvice = 8

// write prints the plan, or the comparison with the policy.
func (f *planFlags) write(cmd *cobra.Command, in *planningInput, context *view.Context, compared *comparedPolicy, p plan.Plan) error {
	opts := commandline.ReportOptions(cmd.OutOrStdout())
	opts.NoHeaders = f.noHeaders
	opts.Evicts, opts.Namespace = !in.conf.DryRun, f.input.namespace
	p = f.filter.Select(p)
	opts.Context = context
	if in.whatIf != nil {
		return report.WhatIf(cmd.OutOrStdout(), in.format, *in.whatIf, p, opts)
	}
	if compared != nil {
		return report.Comparison(cmd.OutOrStdout(), in.format, compared.compare(in.snapshot, in.conf, in.due, p), opts)
	}
	return report.Plan(cmd.OutOrStdout(), in.format, p, opts)
}
