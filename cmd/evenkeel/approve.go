package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// decideFlags are the flags of approve and discard.
type decideFlags struct {
	namespace, strategy, steps, output string
	wait                               time.Duration
	undo                               bool
}

func newApprove(g *globalFlags) *cobra.Command {
	f := &decideFlags{}
	c := &cobra.Command{
		Use: "approve [PLAN]", Short: "Approve steps of a waiting plan", Args: atMostOnePlan,
		Long:    "Approves steps of a plan that waits, because their strategies have mode: approve. PLAN is the ID of the plan or the\nbeginning of it. Without PLAN, the command lists the waiting plans.\nThe process that holds the Lease executes the approved steps. It checks each step again and drops steps that are no\nlonger valid. Limits, windows, budgets, back-offs and pauses apply. With CronJobs, the next job executes the steps.",
		Example: "  evenkeel approve\n  evenkeel approve 3f2a --strategy zones\n  evenkeel approve 3f2a --steps 1,4-7 --wait 10m",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.approve(cmd, g, args) },
	}
	f.addTo(c, "approve")
	c.Flags().DurationVar(&f.wait, "wait", 0,
		"how long to wait for the report of the process that executes the steps (default: do not wait)")
	c.Flags().StringVarP(&f.output, "output", "o", "table", "with --wait: report as table, wide, json or yaml")
	return c
}

func newDiscard(g *globalFlags) *cobra.Command {
	f := &decideFlags{output: string(report.Table)}
	c := &cobra.Command{
		Use: "discard [PLAN]", Short: "Discard steps of a waiting plan", Args: atMostOnePlan,
		Long:    "Discards steps of a plan that waits for approval. Their strategies do not propose to evict the same pods again before\napprovals.validFor has passed. With --undo, they may propose them again at once.\nWithout PLAN, the command lists the waiting plans and the discarded moves.",
		Example: "  evenkeel discard 3f2a\n  evenkeel discard 3f2a --steps 2\n  evenkeel discard --undo 3f2a",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.discard(cmd, g, args) },
	}
	f.addTo(c, "discard")
	c.Flags().BoolVar(&f.undo, "undo", false, "let the strategies propose the discarded moves of the plan again")
	return c
}

func atMostOnePlan(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes one plan, got %d", cmd.Name(), len(args))
	}
	return nil
}

func (f *decideFlags) addTo(c *cobra.Command, verb string) {
	addReleaseFlag(c.Flags(), &f.namespace)
	c.Flags().StringVar(&f.strategy, "strategy", "", verb+" only the steps of this strategy")
	c.Flags().StringVar(&f.steps, "steps", "", verb+" only these steps, such as 1,4-7 (default: all that wait)")
}

// check returns the chosen steps and the output format.
func (f *decideFlags) check(cmd *cobra.Command) (c waiting.Choice, format report.Format, err error) {
	if format, err = parseFormat(f.output); err != nil {
		return c, "", err
	}
	if f.wait < 0 {
		return c, "", errors.New("--wait: want 0s or more")
	}
	for _, name := range []string{"strategy", "steps"} {
		if cmd.Flags().Changed(name) && cmd.Flag(name).Value.String() == "" {
			return c, "", fmt.Errorf("--%s: the value is empty", name)
		}
	}
	if c.Strategy = f.strategy; f.steps != "" {
		if c.Steps, err = waiting.ParseSteps(f.steps); err != nil {
			return c, "", fmt.Errorf("--steps: %w", err)
		}
	}
	if f.namespace != "" {
		err = checkNamespace(f.namespace)
	}
	return c, format, err
}

// decision is the connection of approve and discard to the cluster.
type decision struct {
	client kubernetes.Interface
	store  *waiting.Store
	plans  waiting.Plans
	now    time.Time
}

// connect finds the namespace of Evenkeel and reads the waiting plans.
func (f *decideFlags) connect(cmd *cobra.Command, g *globalFlags) (d decision, err error) {
	g.logger(cmd)
	if d.client, _, err = g.client(); err != nil {
		return d, err
	}
	if f.namespace, err = releaseNamespace(cmd.Context(), d.client, f.namespace); err != nil {
		return d, err
	}
	d.store, d.now = waiting.New(d.client, f.namespace), time.Now().UTC().Truncate(time.Second)
	d.plans, err = d.store.Load(cmd.Context())
	d.plans = d.plans.Expire(d.now)
	return d, explainForbidden("get configmap "+waiting.ConfigMapName, err)
}

func (f *decideFlags) approve(cmd *cobra.Command, g *globalFlags, args []string) error {
	choice, format, err := f.check(cmd)
	if err != nil {
		return err
	}
	d, err := f.connect(cmd, g)
	if err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	if len(args) == 0 || args[0] == "" {
		return f.list(cmd, d)
	}
	lease := &leader.Lease{Client: d.client, Namespace: f.namespace, Identity: leaseIdentity(), OnLeadingChange: func(bool) {}}
	executor, err := f.findExecutor(cmd.Context(), lease, d)
	if err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	w, err := d.plans.Find(args[0])
	if err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	steps, needed, err := w.Choose(choice, true)
	if err != nil {
		return fmt.Errorf("nothing was approved: %w", err)
	}
	r := approval.Request{Plan: w.Part(steps), ApprovedBy: apiUser(cmd.Context(), d.client), ApprovedAt: d.now, WaitingPlan: w.ID}
	box := approval.New(d.client, f.namespace)
	if err := box.Submit(cmd.Context(), r); err != nil {
		return fmt.Errorf("nothing was approved: %w", explainForbidden("create and update configmaps", err))
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "Approved %d of %s of plan %s: %s.\n", len(steps), plural.Count(len(w.Moves), "step"), terminal.Escape(w.ID), waiting.FormatSteps(steps))
	explainNeeded(out, needed)
	if executor.Holder == "" {
		f.explainNextExecutor(out, executor, w.Expires)
		return nil
	}
	fmt.Fprintf(out, "%s holds the Lease in namespace %s and executes the steps when it has no other pass.\n", executor.Holder, f.namespace)
	if f.wait == 0 {
		return nil
	}
	return f.waitForReport(cmd, box, lease, r, format)
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
func (f *decideFlags) findExecutor(ctx context.Context, lease *leader.Lease, d decision) (leader.Status, error) {
	s, err := lease.Status(ctx)
	switch {
	case err != nil:
		return s, err
	case s.Holder != "":
		return s, approvalsOffError(s, f.namespace)
	case f.leadsDryRun(ctx, d):
		return s, fmt.Errorf("namespace %s has a dry run (dryRun: true), which keeps and executes no plan", f.namespace)
	}
	return s, nil
}

// approvalsOffError returns an error if a process holds the Lease that executes no approved plans.
func approvalsOffError(s leader.Status, namespace string) error {
	if s.Holder == "" || !s.ApprovalsOff {
		return nil
	}
	return fmt.Errorf("%s holds the Lease in namespace %s with approvals.enabled: false, so it executes no approved plan", s.Holder, namespace)
}

// approvalsOff returns why the process that holds the Lease executes no approved plans, or nil. A
// failed request says that it does.
func (f *decideFlags) approvalsOff(ctx context.Context, d decision) error {
	call, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	s, err := (&leader.Lease{Client: d.client, Namespace: f.namespace}).Status(call)
	if err != nil {
		return nil
	}
	return approvalsOffError(s, f.namespace)
}

// leadsDryRun reports whether a dry run holds its Lease. A failed request says that none does.
func (f *decideFlags) leadsDryRun(ctx context.Context, d decision) bool {
	call, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	holder, err := (&leader.Lease{Client: d.client, Namespace: f.namespace, DryRun: true}).Leader(call)
	return err == nil && holder != ""
}

// waitForReport waits for the report of the process that executes the steps, and prints it. It
// withdraws the approval if the process has a new configuration with which it executes no approved
// plans.
func (f *decideFlags) waitForReport(cmd *cobra.Command, box *approval.Store, lease leaseReader, r approval.Request,
	format report.Format) error {
	call, cancel := context.WithTimeout(cmd.Context(), f.wait)
	defer cancel()
	every := time.NewTicker(reportPollInterval)
	defer every.Stop()
	var last error
	for {
		select {
		case <-call.Done():
			return errors.Join(fmt.Errorf("no report arrived within %s; the steps stay approved until %s", f.wait,
				r.Plan.Expires.UTC().Format(time.RFC3339)), last)
		case <-every.C:
			var got *plan.RunReport
			if got, last = box.Report(call, r.Plan.ID); got != nil {
				return errors.Join(report.Run(cmd.OutOrStdout(), format, *got), incompleteError(*got))
			}
			last = explainForbidden("get configmaps", last)
			if off := withdrawIfOff(call, box, lease, r.Plan.ID, f.namespace); off != nil {
				return fmt.Errorf("nothing was executed: %w", off)
			}
		}
	}
}

// leaseReader reads what a Lease says about its holder.
type leaseReader interface {
	Status(ctx context.Context) (leader.Status, error)
}

// withdrawIfOff withdraws a request if the process that holds the Lease executes no approved plans, and returns why. It
// returns nil if the request may still be executed.
func withdrawIfOff(ctx context.Context, box *approval.Store, lease leaseReader, id, namespace string) error {
	s, err := lease.Status(ctx)
	if err != nil {
		return nil
	}
	off := approvalsOffError(s, namespace)
	if off == nil {
		return nil
	}
	if back, err := box.Withdraw(ctx, id); err != nil || !back {
		return nil
	}
	return fmt.Errorf("%w; the approval was withdrawn", off)
}

func (f *decideFlags) discard(cmd *cobra.Command, g *globalFlags, args []string) error {
	choice, _, err := f.check(cmd)
	if err != nil {
		return err
	}
	d, err := f.connect(cmd, g)
	if err != nil {
		return fmt.Errorf("nothing was discarded: %w", err)
	}
	if len(args) == 0 || args[0] == "" {
		return f.list(cmd, d)
	}
	var done waiting.DiscardResult
	who := apiUser(cmd.Context(), d.client)
	if err := d.store.Update(cmd.Context(), func(p waiting.Plans) (_ waiting.Plans, err error) {
		if f.undo {
			done, err = p.Undo(args[0], choice, d.now)
		} else {
			done, err = p.Discard(args[0], choice, who, d.now)
		}
		return done.Plans, err
	}); err != nil {
		return fmt.Errorf("nothing was discarded: %w", explainForbidden("update configmap "+waiting.ConfigMapName, err))
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
			explainForbidden("get configmap "+approval.ConfigMapName, err))
	case of == id:
		fmt.Fprintln(cmd.OutOrStdout(), "An approval of this plan is not executed yet. The leader executes its other steps, and reports the discarded ones as\ndropped (Discarded).")
	}
	return nil
}

func explainNeeded(out io.Writer, needed []int) {
	if len(needed) > 0 {
		fmt.Fprintf(out, "%s %s included: a step that makes room for another one, and that other step, belong together.\n",
			plural.Choose(len(needed), "Step", "Steps")+" "+waiting.FormatSteps(needed), plural.Choose(len(needed), "is", "are"))
	}
}

// list prints the waiting plans.
func (f *decideFlags) list(cmd *cobra.Command, d decision) error {
	out := cmd.OutOrStdout()
	if len(d.plans.Waiting) == 0 && len(d.plans.Discarded) > 0 {
		fmt.Fprintf(out, "No plan waits for approval in namespace %s.\n", f.namespace)
		return report.DiscardedMoves(out, d.plans.Discarded)
	}
	if len(d.plans.Waiting) == 0 {
		fmt.Fprintf(out, "No plan waits for approval in namespace %s.\n", f.namespace)
		if f.leadsDryRun(cmd.Context(), d) {
			fmt.Fprintln(out, "Evenkeel there is a dry run (dryRun: true), which keeps no plans.")
			return nil
		}
		fmt.Fprintln(out, "A plan waits after a pass with dryRun: false and approvals.enabled: true, if a strategy with mode: approve has moves.")
		return nil
	}
	of, err := approval.New(d.client, f.namespace).Unfinished(cmd.Context())
	if err != nil {
		return explainForbidden("get configmap "+approval.ConfigMapName, err)
	}
	for i := range d.plans.Waiting {
		w := &d.plans.Waiting[i]
		if err := report.WaitingPlan(out, w.Plan, w.Since, func(step int) string {
			s := w.StateOf(step)
			if s.State == waiting.Approved && of != w.ID {
				return s.String() + ", not executed"
			}
			return s.String()
		}); err != nil {
			return err
		}
		if of == w.ID {
			fmt.Fprintln(out, "Steps of this plan are approved, and wait for the leader or are being executed.")
		}
	}
	if off := f.approvalsOff(cmd.Context(), d); off != nil {
		fmt.Fprintf(out, "No step is executed: %v.\n", off)
		return report.DiscardedMoves(out, d.plans.Discarded)
	}
	fmt.Fprintf(out, "To approve: evenkeel approve %s [--strategy S] [--steps 1,4-7]\n", terminal.Escape(d.plans.Waiting[0].ID))
	return report.DiscardedMoves(out, d.plans.Discarded)
}
