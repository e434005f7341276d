package releasecommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/report"
)

func newApprove(a *Access) *cobra.Command {
	f := &decideFlags{}
	c := &cobra.Command{
		Use: "approve [PLAN]", Short: "Approve steps of a waiting plan", Args: atMostOnePlan,
		Long: "Approve steps of a plan that needs approval. A plan needs approval if a person created the plan,\n" +
			"or if its strategies have mode: approve. PLAN is the plan's name or ID, or a unique prefix of\n" +
			"either. Without PLAN, the command lists the plans that need approval. The command writes the\n" +
			"approval into the RebalancePlan; you can do the same with kubectl.\n\n" +
			"The Evenkeel process that holds the Lease executes the approved steps. If Evenkeel runs as\n" +
			"CronJobs, the next Job executes the steps. Before it executes a step, Evenkeel checks whether the\n" +
			"step is still valid, and drops the step if it is not. All limits, time windows, disruption\n" +
			"budgets, back-offs and pauses also apply to approved steps.",
		Example: "  # Which plans are waiting?\n  evenkeel approve\n\n  # Approve the steps of one strategy\n  evenkeel approve 3f2a --strategy zones\n\n  # Approve some steps, and wait until they are executed\n  evenkeel approve 3f2a --steps 1,4-7 --wait 10m",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.approve(cmd, a, args) },
	}
	f.addTo(c, "approve")
	c.Flags().DurationVar(&f.wait, "wait", 0,
		"how long to wait for the steps' outcomes (default: do not wait)")
	c.Flags().StringVarP(&f.output, "output", "o", "table", "report format with --wait: table, wide, json, yaml, html or markdown")
	return c
}

func (f *decideFlags) approve(cmd *cobra.Command, a *Access, args []string) error {
	choice, format, err := f.check(cmd)
	if err != nil {
		return err
	}
	listing := len(args) == 0 || args[0] == ""
	if cmd.Flags().Changed("wait") && listing || cmd.Flags().Changed("output") && (listing || f.wait == 0) {
		return fmt.Errorf("--wait and --output are about the outcomes of an approved plan; want: %s PLAN --wait 10m", cmd.CommandPath())
	}
	d, err := f.connect(cmd, a)
	if err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	if listing {
		return f.list(cmd, d)
	}
	lease := &leader.Lease{Client: d.client, Namespace: f.namespace}
	executor, err := f.findExecutor(cmd.Context(), lease, d, a.SyncTimeout)
	if err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	if err := installed.Paused(cmd.Context(), d.objects); err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	w, err := f.find(cmd.Context(), d, args[0])
	if err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	by := connection.User(cmd.Context(), d.client)
	done, err := d.store.Decide(cmd.Context(), w, waiting.ToApprove, choice, by, d.now)
	if err != nil {
		return fmt.Errorf("nothing was approved: %w", connection.ExplainForbidden("update rebalanceplans.evenkeel.io", err))
	}
	installed.WarnOtherDeschedulers(cmd, executor)
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "Approved %d of %s of plan %s: %s.\n", len(done.Steps), plural.Count(len(done.Plan.Moves), "step"), terminal.Escape(w),
		waiting.FormatSteps(done.Steps))
	explainNeeded(out, done.Needed)
	if executor.Holder == "" {
		f.explainNextExecutor(out, executor, done.Plan.Expires)
	} else {
		fmt.Fprintf(out, "%s holds the Lease in namespace %s and executes the steps when it has no other pass.\n", executor.Holder, f.namespace)
	}
	if f.wait == 0 {
		return nil
	}
	return f.waitForReport(cmd, a, &installed.Submission{Plans: d.store, Lease: lease, Namespace: f.namespace, Plan: w, Steps: done.Steps,
		Generation: done.Plan.Object().Generation, By: by, NotDone: "nothing was executed",
		Late: func() error {
			return fmt.Errorf("the steps did not end within %s; they stay approved until %s", f.wait, done.Plan.Expires.UTC().Format(time.RFC3339))
		}}, format)
}

// explainNextExecutor says when approved steps are executed although no process holds the Lease.
func (f *decideFlags) explainNextExecutor(out io.Writer, last leader.Status, until time.Time) {
	fmt.Fprintf(out, "No process holds the Lease in namespace %s. The next one, such as a job of the CronJob, executes the steps before its own\n"+
		"pass, until %s.\n", f.namespace, until.UTC().Format(time.RFC3339))
	if last.ApprovalsOff {
		fmt.Fprintln(out, "The last process that held it had approvals.enabled: false. With this configuration, no process executes the steps.")
	}
}

// findExecutor reads which process holds the Lease. It returns an error if the installation is a dry run, or if the
// process executes no approved plans.
func (f *decideFlags) findExecutor(ctx context.Context, lease *leader.Lease, d decision,
	timeout time.Duration) (leader.Status, error) {
	call, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s, err := lease.Status(call)
	switch {
	case err != nil:
		return s, err
	case s.Holder != "":
		return s, installed.ApprovalsOff(s, f.namespace)
	case f.leadsDryRun(ctx, d):
		return s, fmt.Errorf("namespace %s has a dry run (dryRun: true), which keeps and executes no plan", f.namespace)
	}
	return s, nil
}

// waitForReport waits for the outcomes of the steps, and prints them.
func (f *decideFlags) waitForReport(cmd *cobra.Command, a *Access, submitted *installed.Submission, format report.Format) error {
	waits, cancel := context.WithTimeout(cmd.Context(), f.wait)
	defer cancel()
	a.Progress().Start("waiting for the process that holds the Lease in namespace %s", f.namespace)
	got, err := submitted.Await(waits)
	if err != nil {
		return err
	}
	a.Progress().Stop()
	return errors.Join(report.Run(cmd.OutOrStdout(), format, *got, commandline.ReportOptions(cmd.OutOrStdout())), installed.Incomplete(*got))
}
