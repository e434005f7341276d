package releasecommand

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/report"
)

func newDiscard(a *Access) *cobra.Command {
	f := &decideFlags{output: string(report.Table)}
	c := &cobra.Command{
		Use: "discard [PLAN]", Short: "Discard steps of a waiting plan", Args: atMostOnePlan,
		Long: "Discard steps of a plan that needs approval. The steps' strategies do not propose to evict the\n" +
			"same pods again until the time that approvals.validFor sets has passed. Without PLAN, the command\n" +
			"lists the plans that need approval, and the discarded moves. The command writes the decision into\n" +
			"the RebalancePlan; you can do the same with kubectl.\n\n" +
			"The option --undo reverses a decision: discarded steps need approval again, and so do approved\n" +
			"steps that --steps names. If the plan has already ended, --undo lets the plan's strategies propose\n" +
			"the discarded moves again at once.",
		Example: "  # Discard a plan\n  evenkeel discard 3f2a\n\n  # Discard one step\n  evenkeel discard 3f2a --steps 2\n\n  # Let the strategies propose the moves again\n  evenkeel discard --undo 3f2a",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.discard(cmd, a, args) },
	}
	f.addTo(c, "discard")
	c.Flags().BoolVar(&f.undo, "undo", false, "make discarded steps wait for approval again, and also approved steps if --steps names them")
	return c
}

func (f *decideFlags) discard(cmd *cobra.Command, a *Access, args []string) error {
	choice, _, err := f.check(cmd)
	if err != nil {
		return err
	}
	d, err := f.connect(cmd, a)
	if err != nil {
		return fmt.Errorf("nothing was discarded: %w", err)
	}
	if len(args) == 0 || args[0] == "" {
		return f.list(cmd, d)
	}
	verb := waiting.ToDiscard
	if f.undo {
		verb = waiting.ToUndo
	}
	name, err := f.find(cmd.Context(), d, args[0])
	if err != nil {
		return fmt.Errorf("nothing was discarded: %w", err)
	}
	done, err := d.store.Decide(cmd.Context(), name, verb, choice, connection.User(cmd.Context(), d.client), d.now)
	if err != nil {
		return fmt.Errorf("nothing was discarded: %w", connection.ExplainForbidden("update rebalanceplans.evenkeel.io", err))
	}
	out := cmd.OutOrStdout()
	text := "Discarded %s of plan %s: %s.\n"
	if f.undo {
		text = "Took back the decision about %s of plan %s: %s. They wait again, unless the plan has ended.\n"
	}
	fmt.Fprintf(out, text, plural.Count(len(done.Steps), "step"), terminal.Escape(name), waiting.FormatSteps(done.Steps))
	explainNeeded(out, done.Needed)
	if done.Plan.Object().Status.Phase == v1alpha1.PhaseRunning {
		fmt.Fprintln(out, "A process executes approved steps of this plan now, so it may have begun with these steps too.")
	}
	return nil
}
