package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/names"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/strategies"
)

func newExplain(g *globalFlags) *cobra.Command {
	f := &planningFlags{}
	c := &cobra.Command{
		Use: "explain", Short: "Explain why Evenkeel would or would not move pods now", Args: names.RejectSubject,
		Long: "Explain why Evenkeel would or would not move a pod, a node's pods, or a workload's pods. The\n" +
			"command makes the plan that Evenkeel would make now, but evicts nothing. `evenkeel explain reason`\n" +
			"explains the reason codes in reports.",
		Example: "  # Why would this pod stay or move?\n  evenkeel explain pod web-6c8f-x1 --namespace shop\n\n" +
			"  # Which pods would leave a node, and what is wrong with the node?\n  evenkeel explain node n1\n\n" +
			"  # Explain a workload in a saved snapshot, with every rule\n" +
			"  evenkeel explain workload deployment/shop/web -f snapshot.yaml -o wide",
		RunE: func(*cobra.Command, []string) error {
			return errors.New("explain needs a subject; want: explain pod NAME, explain node NAME, explain workload KIND/NAME, or explain reason CODE")
		},
	}
	f.add(c.PersistentFlags())
	c.AddCommand(
		f.newExplainSubcommand(g, explained{use: "pod NAME", short: "Explain why Evenkeel would or would not move a pod", find: names.FindPod, slashes: 1,
			long: "Explain why Evenkeel would or would not move a pod now. NAME can include the pod's namespace, as\nNAMESPACE/NAME.",
			example: "  # Explain a pod in your context's namespace\n  evenkeel explain pod web-6c8f-x1\n\n" +
				"  # Explain a pod in another namespace; both commands are equivalent\n  evenkeel explain pod web-6c8f-x1 -n shop\n  evenkeel explain pod shop/web-6c8f-x1"}),
		f.newExplainSubcommand(g, explained{use: "node NAME", short: "Explain a node's goals, and which of its pods would move", find: names.FindNode,
			long: "Explain the goals that strategies set for a node, and which of the node's pods Evenkeel would move\n" +
				"now.",
			example: "  # What is wrong with a node, and which pods would leave it?\n  evenkeel explain node n1"}),
		f.newExplainSubcommand(g, explained{use: "workload KIND/NAME", short: "Explain a workload's goals, and which of its pods would move", find: names.FindWorkload, slashes: 2,
			long: "Explain the goals that strategies set for a workload, and which of the workload's pods Evenkeel\n" +
				"would move now. NAME can include the workload's namespace, as KIND/NAMESPACE/NAME. KIND can be a\n" +
				"short name, such as deploy, sts, rs or cj.",
			example: "  # Explain a Deployment in the namespace shop; both commands are equivalent\n  evenkeel explain workload deploy/web -n shop\n" +
				"  evenkeel explain workload deployment/shop/web"}),
		newExplainReason(),
	)
	return c
}

// explained describes a subcommand of explain.
type explained struct {
	use, short, long, example string
	find                      names.Finder
	slashes                   int // of a complete name; 0 for a name without a namespace
}

func (f *planningFlags) newExplainSubcommand(g *globalFlags, of explained) *cobra.Command {
	c := &cobra.Command{Use: of.use, Short: of.short, Long: of.long, Example: of.example,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("want one name: explain %s", of.use)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.explain(cmd, g, args[0], of) },
	}
	if of.slashes > 0 {
		c.Annotations = map[string]string{commandline.NamespaceOf: commandline.OfSubject}
	}
	return c
}

func (f *planningFlags) explain(cmd *cobra.Command, g *globalFlags, name string, of explained) (err error) {
	g.logger(cmd)
	if of.slashes > 0 {
		if name, err = names.Qualify(name, g.Namespace(), of.slashes, g.NamespaceFlag() != ""); err != nil {
			return err
		}
	}
	in, err := f.read(cmd, g, "")
	if err != nil {
		return err
	}
	explain, err := of.find(in.snapshot, &in.state, name)
	if err != nil && of.slashes == 1 && len(f.input.files) == 0 {
		return fmt.Errorf("%w; for earlier moves: evenkeel history pod %s", err, name)
	}
	if err != nil {
		return err
	}
	g.progress.Start("planning for %d nodes and %d pods", len(in.snapshot.Nodes), len(in.snapshot.Pods))
	e := in.planner.Explain(in.snapshot, in.state, in.goals, in.snapshot.TakenAt)
	if err := cmd.Context().Err(); err != nil {
		return fmt.Errorf("the explanation was interrupted: %w", err)
	}
	x := explain(e)
	addNoGoal(&x, in.snapshot, in.strategies)
	g.progress.Stop()
	return report.Explain(cmd.OutOrStdout(), in.format, x, commandline.ReportOptions(cmd.OutOrStdout()))
}

// addNoGoal adds to each explained pod without a goal why strategies state none: those that remove pods that have ended
// about such a pod, and those that know too little about the node of another pod. If that decides, the verdict says so.
func addNoGoal(x *plan.Explanation, s *cluster.Snapshot, all []schedule.Strategy) {
	for i := range x.Pods {
		of := &x.Pods[i]
		p := s.PodByUID(of.Pod.UID)
		if p == nil || len(of.Goals) > 0 {
			continue
		}
		for _, st := range all {
			if why := strategies.WhyNoGoal(st.Strategy, s, p); why != "" {
				of.NoGoal = append(of.NoGoal, plan.StrategyMessage{Strategy: st.Name, Message: why})
				if !p.Terminal && of.Verdict.Code == plan.NotNeeded {
					of.Verdict = plan.Reason{Code: plan.NoUsageData, Message: "strategy " + st.Name + ": " + why}
				}
			}
		}
	}
}
