package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/subject"
	"github.com/evenkeel-project/evenkeel/report"
)

func newExplain(g *globalFlags) *cobra.Command {
	f := &planningFlags{}
	c := &cobra.Command{
		Use: "explain", Short: "Explain why Evenkeel would or would not move a pod, or the pods of a node or workload, now",
		Example: "  evenkeel explain pod shop/web-6c8f-x1\n  evenkeel explain node n1\n  evenkeel explain workload deployment/shop/web -f snapshot.yaml -o wide",
		Args:    rejectSubject, RunE: func(*cobra.Command, []string) error {
			return errors.New("explain needs a subject; want: explain pod NAMESPACE/NAME, explain node NAME, or explain workload KIND/NAMESPACE/NAME")
		},
	}
	f.add(c.PersistentFlags())
	c.AddCommand(
		f.newExplainSubcommand(g, "pod NAMESPACE/NAME", "Explain why Evenkeel would or would not move a pod", subject.Pod),
		f.newExplainSubcommand(g, "node NAME", "Explain the goals of a node, and which of its pods Evenkeel would move", subject.Node),
		f.newExplainSubcommand(g, "workload KIND/NAMESPACE/NAME", "Explain the goals of a workload, and which of its pods Evenkeel would move", subject.Workload),
	)
	return c
}

// rejectSubject returns an error for a subject without its kind, or for names in the style of kubectl. It suggests the
// right command.
func rejectSubject(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(cmd, args[0], cmp.Or(subject.Suggest(cmd.CommandPath(), args), nearestCommand(cmd, args[0])))
}

func (f *planningFlags) newExplainSubcommand(g *globalFlags, use, short string, find subject.Finder) *cobra.Command {
	return &cobra.Command{Use: use, Short: short,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("want one name: explain %s", use)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.explain(cmd, g, args[0], find) },
	}
}

func (f *planningFlags) explain(cmd *cobra.Command, g *globalFlags, name string, find subject.Finder) error {
	g.logger(cmd)
	in, err := f.read(cmd, g, "")
	if err != nil {
		return err
	}
	explain, err := find(in.snapshot, name)
	if err != nil {
		return err
	}
	e := in.planner.Explain(in.snapshot, in.state, in.goals, in.snapshot.TakenAt)
	x := explain(e)
	subject.AddNoGoal(&x, in.snapshot, in.strategies)
	return report.Explain(cmd.OutOrStdout(), in.format, x)
}
