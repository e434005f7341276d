package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/report"
)

type explainFlags struct{ planningFlags }

func newExplain(g *globalFlags) *cobra.Command {
	f := &explainFlags{}
	c := &cobra.Command{
		Use: "explain", Short: "Explain why Evenkeel would or would not move a pod, or the pods of a node or workload, now",
		Example: "  evenkeel explain pod shop/web-6c8f-x1\n  evenkeel explain node n1\n  evenkeel explain workload deployment/shop/web -f snapshot.yaml -o wide",
		Args:    rejectArguments, RunE: func(*cobra.Command, []string) error {
			return errors.New("explain needs a subject; want: explain pod NAMESPACE/NAME, explain node NAME, or explain workload KIND/NAMESPACE/NAME")
		},
	}
	f.add(c.PersistentFlags())
	c.AddCommand(
		f.newSubcommand(g, "pod NAMESPACE/NAME", "Explain why Evenkeel would or would not move a pod", findPod),
		f.newSubcommand(g, "node NAME", "Explain the goals of a node, and which of its pods Evenkeel would move", findNode),
		f.newSubcommand(g, "workload KIND/NAMESPACE/NAME", "Explain the goals of a workload, and which of its pods Evenkeel would move", findWorkload),
	)
	return c
}

// subjectFinder finds the pod, node or workload with the given name, and returns a function that explains the object.
type subjectFinder func(s *cluster.Snapshot, name string) (func(*planner.Explainer) plan.Explanation, error)

func (f *explainFlags) newSubcommand(g *globalFlags, use, short string, find subjectFinder) *cobra.Command {
	return &cobra.Command{Use: use, Short: short,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("want one name: explain %s", use)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, g, args[0], find) },
	}
}

func (f *explainFlags) run(cmd *cobra.Command, g *globalFlags, name string, find subjectFinder) error {
	g.logger(cmd)
	j, err := f.parse(cmd)
	if err != nil {
		return err
	}
	s, err := f.input.snapshot(cmd, g)
	if err != nil {
		return err
	}
	by := planner.New(j.conf.PlannerOptions())
	if s, err = withPredictedHints(by, s); err != nil {
		return err
	}
	explain, err := find(s, name)
	if err != nil {
		return err
	}
	st, err := f.input.state(s)
	if err != nil {
		return err
	}
	e := by.Explain(s, st, j.goals(s), s.TakenAt)
	return report.Explain(cmd.OutOrStdout(), j.format, explain(e))
}

func findPod(s *cluster.Snapshot, name string) (func(*planner.Explainer) plan.Explanation, error) {
	if strings.Count(name, "/") != 1 {
		return nil, fmt.Errorf("%q is not a pod (want NAMESPACE/NAME)", name)
	}
	p := s.PodByKey(name)
	if p == nil {
		return nil, fmt.Errorf("pod %s not found; names are NAMESPACE/NAME, as in kubectl get pods -A", name)
	}
	return func(e *planner.Explainer) plan.Explanation { return e.Pod(p.ID) }, nil
}

func findNode(s *cluster.Snapshot, name string) (func(*planner.Explainer) plan.Explanation, error) {
	n := s.NodeByName(name)
	if n == nil {
		return nil, fmt.Errorf("node %s not found", name)
	}
	return func(e *planner.Explainer) plan.Explanation { return e.Node(n.ID) }, nil
}
