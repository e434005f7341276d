package releasecommand

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/report"
)

func newDiscard(a *Access) *cobra.Command {
	f := &decideFlags{output: string(report.Table)}
	c := &cobra.Command{
		Use: "discard [PLAN]", Short: "Discard steps of a waiting plan", Args: atMostOnePlan,
		Long:    "Discard steps of a plan that waits for approval. Their strategies do not propose to evict the\nsame pods again before approvals.validFor has passed. With --undo, they may propose them\nagain at once.\n\nWithout PLAN, the command lists the waiting plans and the discarded moves.",
		Example: "  # Discard a plan\n  evenkeel discard 3f2a\n\n  # Discard one step\n  evenkeel discard 3f2a --steps 2\n\n  # Let the strategies propose the moves again\n  evenkeel discard --undo 3f2a",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.discard(cmd, a, args) },
	}
	f.addTo(c, "discard")
	c.Flags().BoolVar(&f.undo, "undo", false, "let the strategies propose the discarded moves of the plan again")
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
	var done waiting.DiscardResult
	who := connection.User(cmd.Context(), d.client)
	if err := d.store.Update(cmd.Context(), func(p waiting.Plans) (_ waiting.Plans, err error) {
		if f.undo {
			done, err = p.Undo(args[0], choice, d.now)
		} else {
			done, err = p.Discard(args[0], choice, who, d.now)
		}
		return done.Plans, err
	}); err != nil {
		return fmt.Errorf("nothing was discarded: %w", connection.ExplainForbidden("update configmap "+waiting.ConfigMapName, err))
	}
	out := cmd.OutOrStdout()
	if f.undo {
		fmt.Fprintf(out, "Undid the discard of %s of plan %s: %s. The next pass may propose the moves again.\n",
			plural.Count(len(done.Steps), "step"), terminal.Escape(done.ID), waiting.FormatSteps(done.Steps))
		explainNeeded(out, done.Needed)
		return nil
	}
	fmt.Fprintf(out, "Discarded %s of plan %s: %s.\n", plural.Count(len(done.Steps), "step"), terminal.Escape(done.ID),
		waiting.FormatSteps(done.Steps))
	explainNeeded(out, done.Needed)
	return f.explainPending(cmd, d, done.ID)
}

// explainPending prints what a discard means for an approval of the same plan that is not executed yet.
func (f *decideFlags) explainPending(cmd *cobra.Command, d decision, id string) error {
	of, err := approval.New(d.client, f.namespace).Unfinished(cmd.Context())
	switch {
	case err != nil:
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: warning: whether an approval of this plan is pending is unknown: %v\n",
			connection.ExplainForbidden("get configmap "+approval.ConfigMapName, err))
	case of == id:
		fmt.Fprintln(cmd.OutOrStdout(), "An approval of this plan is not executed yet. The leader executes its other steps, and reports the discarded ones as\ndropped (Discarded).")
	}
	return nil
}
