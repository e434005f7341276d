package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/argument"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// maxPlanBytes is the largest plan file that apply reads, in bytes.
const maxPlanBytes = 32 << 20

const (
	applyLeaseTimeout  = 2 * time.Minute
	reportTimeout      = 30 * time.Minute
	reportPollInterval = time.Second
)

type applyFlags struct {
	config, output, namespace string
	leaseTimeout, wait        time.Duration
}

func newApply(g *globalFlags) *cobra.Command {
	f := &applyFlags{}
	c := &cobra.Command{
		Use: "apply PLAN.json", Short: "Execute a saved plan unchanged", Args: requirePlanArgument,
		Long:    "Executes a plan that `evenkeel plan -o json` printed, even if the configuration has dryRun: true.\nEvenkeel checks each move again on the current cluster and drops moves that are no longer valid. Limits, windows,\nbudgets, back-offs and pauses apply. If `evenkeel run` holds the Lease, this command submits the plan to it.\n\nExit code: 0 if a pod was evicted and nothing stopped the plan, or if the plan has no moves; 1 otherwise.",
		Example: "  evenkeel plan -o json > plan.json\n  evenkeel apply plan.json",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, g, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.config, "config", "", "configuration file that the plan was made with (default: the built-in one)")
	fl.StringVarP(&f.output, "output", "o", "table", "report as table, wide, json or yaml")
	fl.DurationVar(&f.leaseTimeout, "lease-timeout", applyLeaseTimeout, "how long to wait for the Lease if no process holds it")
	fl.DurationVar(&f.wait, "wait", reportTimeout, "how long to wait for the report if another process executes the plan")
	addReleaseFlag(fl, &f.namespace)
	return c
}

func (f *applyFlags) run(cmd *cobra.Command, g *globalFlags, path string) error {
	log := g.logger(cmd)
	format, err := f.check()
	if err != nil {
		return err
	}
	p, err := readPlan(path, cmd.InOrStdin())
	if err != nil {
		return err
	}
	conf, err := loadConfig(f.config)
	if err != nil {
		return err
	}
	if !conf.Approvals.Enabled {
		return errors.New("nothing was evicted: approvals.enabled is false in the configuration, so no saved plan is executed")
	}
	client, rc, err := g.client()
	if err != nil {
		return err
	}
	if f.namespace, err = releaseNamespace(cmd.Context(), client, f.namespace); err != nil {
		return fmt.Errorf("nothing was evicted: %w", err)
	}
	by := plan.Approval{By: apiUser(cmd.Context(), client), At: time.Now().UTC().Truncate(time.Second)}
	lease := &leader.Lease{Client: client, Namespace: f.namespace, Identity: leaseIdentity(), OnLeadingChange: func(bool) {}}
	s, err := lease.Status(cmd.Context())
	if err != nil {
		return err
	}
	if off := approvalsOffError(s, f.namespace); off != nil {
		return fmt.Errorf("nothing was evicted: %w", off)
	}
	if s.Holder != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: %s holds the Lease in namespace %s; submitting the plan to it\n", s.Holder, f.namespace)
		r, err := f.submitToLeader(cmd.Context(), client, lease, p, by)
		switch {
		case err != nil:
			return err
		case r != nil:
			return errors.Join(report.Run(cmd.OutOrStdout(), format, *r), incompleteError(*r))
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: no process in namespace %s took the plan, and no process holds the Lease there any more; "+
			"this process executes the plan\n", f.namespace)
	}
	warnWithoutLease(cmd, client, f.namespace)
	return f.executePlan(cmd, g, log, client, rc, conf, lease, p, by, format)
}

// check returns the output format, or an error if a flag has an invalid value.
func (f *applyFlags) check() (report.Format, error) {
	format, err := parseFormat(f.output)
	if err != nil {
		return "", err
	}
	if f.leaseTimeout <= 0 || f.wait <= 0 {
		return "", errors.New("--lease-timeout and --wait: want more than 0s")
	}
	if f.namespace == "" {
		return format, nil // run finds the release after it has read the plan and connected
	}
	return format, checkNamespace(f.namespace)
}

// readPlan reads a plan that `evenkeel plan -o json` printed. The path - means standard input.
func readPlan(path string, stdin io.Reader) (plan.Plan, error) {
	var p plan.Plan
	if path == "" {
		return p, errors.New("reading the plan: the file name is empty (use - for standard input)")
	}
	name, data, err := argument.ReadFile(path, stdin, maxPlanBytes)
	if err != nil {
		return p, fmt.Errorf("reading the plan: %w", err)
	}
	var tooLarge plan.SizeError
	if err := plan.Decode(data, &p); errors.As(err, &tooLarge) {
		return p, fmt.Errorf("%s is not a plan: %w", name, err)
	} else if err != nil || p.Kind != "Plan" || p.APIVersion != plan.APIVersion {
		return p, fmt.Errorf("%s is not a plan (want the output of `evenkeel plan -o json`: apiVersion %s, kind Plan)", name, plan.APIVersion)
	}
	return p, nil
}

// submitToLeader submits the plan to the leader and waits for its report. If no process holds the Lease any more,
// submitToLeader withdraws the plan and returns a nil report. The former leader was then a single pass or another
// apply, which never execute submitted plans.
func (f *applyFlags) submitToLeader(ctx context.Context, client kubernetes.Interface, lease leaseReader, p plan.Plan,
	by plan.Approval) (*plan.RunReport, error) {
	box := approval.New(client, f.namespace)
	if err := box.Submit(ctx, approval.Request{Plan: p, ApprovedBy: by.By, ApprovedAt: by.At}); err != nil {
		return nil, fmt.Errorf("submitting the plan: %w", explainForbidden("create and update configmaps", err))
	}
	waiting, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	every := time.NewTicker(reportPollInterval)
	defer every.Stop()
	var last error
	for {
		select {
		case <-waiting.Done():
			ended := fmt.Sprintf("no report arrived within %s", f.wait)
			if ctx.Err() != nil {
				ended = "this command was stopped before the report arrived"
			}
			return nil, errors.Join(fmt.Errorf("%s; the plan stays submitted: to withdraw it, delete ConfigMap %s/%s", ended, f.namespace,
				approval.ConfigMapName), last)
		case <-every.C:
			var r *plan.RunReport
			if r, last = box.Report(waiting, p.ID); r != nil {
				return r, nil
			}
			last = explainForbidden("get configmaps", last)
			if off := withdrawIfOff(waiting, box, lease, p.ID, f.namespace); off != nil {
				return nil, fmt.Errorf("nothing was evicted: %w", off)
			}
			if s, err := lease.Status(waiting); err != nil || s.Holder != "" {
				continue
			}
			if back, err := box.Withdraw(waiting, p.ID); err == nil && back {
				return nil, nil
			}
		}
	}
}

// executePlan acquires the Lease and executes the plan in this process.
func (f *applyFlags) executePlan(cmd *cobra.Command, g *globalFlags, log *slog.Logger, client kubernetes.Interface, rc *rest.Config,
	conf *config.Config, lease *leader.Lease, p plan.Plan, by plan.Approval, format report.Format) error {
	watching, end := context.WithCancel(context.WithoutCancel(cmd.Context()))
	o := observe.New(client, clock.RealClock{})
	defer func() { end(); o.Shutdown() }()
	o.Start(watching)
	if err := g.waitForSync(cmd.Context(), o, rc); err != nil {
		return err
	}
	counts := metrics.New(programVersion(), conf.Hash())
	loads, err := newUsageMonitor(conf, o, rc, log, counts.UsageRecorder)
	if err != nil {
		return err
	}
	set := &controllerSettings{log: log, lease: lease}
	defer set.connect(watching, g, client, o, f.namespace)()
	reports := &reportWriter{out: cmd.OutOrStdout(), format: format, log: log}
	c := newController(reports, log, o, counts)
	set.apply(c, conf)
	if conf.DryRun {
		set.enableEvictions(c, conf)
	}
	loads.sampleOnce(cmd.Context())
	begun := false
	lease.OnWaiting = func(holder string) { logWaiting(log, f.namespace, holder, f.leaseTimeout) }
	err = lease.Lead(cmd.Context(), f.leaseTimeout, func(ctx context.Context) error {
		begun = true
		return runBeside(ctx, loads.run, func(ctx context.Context) error {
			r, err := c.Apply(ctx, p, by)
			if err != nil {
				err = fmt.Errorf("nothing was evicted: %w", err)
			} else {
				err = incompleteError(r)
			}
			return errors.Join(err, c.UnclosedRuns(), reports.failed)
		})
	})
	return errorIfNotBegun(err, begun)
}

// incompleteError returns an error if something stopped the plan, or if no move was executed. An eviction without an
// answer from the API server counts as executed, because it may have succeeded.
func incompleteError(r plan.RunReport) error {
	evicted := slices.ContainsFunc(r.Outcomes,
		func(o plan.Outcome) bool {
			return o.Outcome == plan.Evicted || o.Outcome == plan.UnknownOutcome || o.Outcome == plan.InProgress
		})
	switch {
	case r.Stopped == nil && !evicted && len(r.Outcomes) > 0:
		o := r.Outcomes[0]
		return fmt.Errorf("no move of the plan was executed: step %d, pod %s: %s (%s); read the report, or make a new plan", o.Step, o.Pod,
			o.Reason.Message, o.Reason.Code)
	case r.Stopped == nil:
		return nil
	case r.Stopped.Code == plan.PlanRefused:
		return fmt.Errorf("the plan was refused: %s (%s)", r.Stopped.Message, r.Stopped.Code)
	}
	return fmt.Errorf("the plan stopped early: %s: %s", r.Stopped.Code, r.Stopped.Message)
}
