package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/connection"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/passlog"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report"
)

// maxPlanBytes is the largest plan file that apply reads, in bytes. An object has at most 900 KiB.
const maxPlanBytes = 4 << 20

const (
	applyLeaseTimeout = 2 * time.Minute
	reportTimeout     = 30 * time.Minute
)

type applyFlags struct {
	config, output, namespace string
	leaseTimeout, wait        time.Duration
	noHeaders                 bool
}

func newApply(g *globalFlags) *cobra.Command {
	f := &applyFlags{}
	c := &cobra.Command{
		Use: "apply PLAN.yaml", Short: "Execute a saved plan unchanged", Args: requirePlanArgument,
		Long: "Execute a RebalancePlan that `evenkeel plan -o yaml` printed, even if the configuration sets\n" +
			"dryRun: true.\n\n" +
			"The command creates the RebalancePlan in Evenkeel's namespace and approves its steps, like\n" +
			"`kubectl create` followed by `evenkeel approve`. Evenkeel checks each move against the current\n" +
			"cluster, and drops moves that are no longer valid. All limits, time windows, disruption budgets,\n" +
			"back-offs and pauses still apply. If no Evenkeel process holds the Lease, this command executes\n" +
			"the steps itself.\n\n" +
			"The exit code is 0 if at least one pod was evicted and nothing stopped the plan, or if the plan\n" +
			"has no moves. Otherwise, the exit code is 1.",
		Example: "  # Save a plan, review it, and execute it\n  evenkeel plan -o yaml > plan.yaml\n  evenkeel apply plan.yaml",
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, g, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.config, "config", "", "configuration with which the plan was made: a file, or builtin for this program's own (default: the configuration of the release in the cluster)")
	fl.StringVarP(&f.output, "output", "o", "table", "report format: table, wide, json, yaml, html, markdown, "+commandline.ObjectForms)
	commandline.AddNoHeaders(fl, &f.noHeaders)
	fl.DurationVar(&f.leaseTimeout, "lease-timeout", applyLeaseTimeout, "how long to wait for the Lease if no process holds it")
	fl.DurationVar(&f.wait, "wait", reportTimeout, "how long to wait for the outcomes if another process executes the plan")
	installed.AddNamespaceFlag(fl, &f.namespace)
	return c
}

func requirePlanArgument(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("apply needs one plan file, got %d; make one with `evenkeel plan -o yaml > plan.yaml`", len(args))
	}
	return nil
}

func (f *applyFlags) run(cmd *cobra.Command, g *globalFlags, path string) error {
	log := g.logger(cmd)
	format, err := f.check(cmd)
	if err != nil {
		return err
	}
	o, err := readPlan(path, cmd.InOrStdin())
	if err != nil {
		return err
	}
	conf, err := g.lookup(cmd).Choose(cmd.Context(), f.config, f.namespace)
	switch {
	case errors.As(err, new(installed.SeveralError)):
		return fmt.Errorf("nothing was evicted: %w", err)
	case err != nil:
		return err
	}
	if !conf.Approvals.Enabled {
		return errors.New("nothing was evicted: approvals.enabled is false in the configuration, so no saved plan is executed")
	}
	client, rc, err := g.client()
	if err != nil {
		return err
	}
	if f.namespace, err = g.lookup(cmd).Namespace(cmd.Context(), client, f.namespace); err != nil {
		return fmt.Errorf("nothing was evicted: %w", err)
	}
	kinds, err := objects.New(rc, f.namespace)
	if err != nil {
		return err
	}
	lease := &leader.Lease{Client: client, Namespace: f.namespace, Identity: leaseIdentity(), OnLeadingChange: func(bool) {}}
	looking, cancel := context.WithTimeout(cmd.Context(), g.syncTimeout)
	defer cancel()
	s, err := lease.Status(looking)
	if err != nil {
		return err
	}
	if off := installed.ApprovalsOff(s, f.namespace); off != nil {
		return fmt.Errorf("nothing was evicted: %w", off)
	}
	conf.Tell(cmd.ErrOrStderr())
	installed.WarnOtherDeschedulers(cmd, s)
	if s.Holder == "" {
		if err := conf.CheckExecutable(); err != nil {
			return fmt.Errorf("nothing was evicted: %w", err)
		}
	}
	if len(o.Spec.Moves) == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: plan %s has no moves, so nothing was evicted\n", terminal.Escape(o.Name))
		return nil
	}
	if err := f.refusal(cmd.Context(), client, kinds, o, conf.PlanHash(), s); err != nil {
		return fmt.Errorf("nothing was evicted: %w", err)
	}
	submitted, err := f.submit(cmd.Context(), waiting.New(kinds), o, connection.User(cmd.Context(), client))
	if err != nil {
		return fmt.Errorf("nothing was evicted: %w", err)
	}
	if submitted.Lease = lease; s.Holder != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: %s holds the Lease in namespace %s and executes plan %s\n", s.Holder, f.namespace, submitted.Plan)
		g.progress.Start("waiting for %s", s.Holder)
		waits, cancel := context.WithTimeout(cmd.Context(), f.wait)
		defer cancel()
		r, err := submitted.Await(waits)
		g.progress.Stop()
		switch {
		case err != nil:
			return err
		case r != nil:
			opts := commandline.ReportOptions(cmd.OutOrStdout())
			opts.NoHeaders = f.noHeaders
			return errors.Join(report.Run(cmd.OutOrStdout(), format, *r, opts), installed.Incomplete(*r))
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "evenkeel: no process holds the Lease in namespace %s any more; this process executes the plan\n", f.namespace)
	}
	if own := conf.PlanHash(); own != o.Spec.ConfigHash { // that of the former holder may have been unknown
		return fmt.Errorf("nothing was evicted: %w; to withdraw the approval: evenkeel discard --undo %s", otherConfigHere(o.Spec.ConfigHash, own),
			submitted.Plan)
	}
	if err := conf.CheckExecutable(); err != nil {
		return fmt.Errorf("nothing was evicted: %w", err)
	}
	installed.WarnWithoutLease(cmd, client, f.namespace)
	return f.executePlan(cmd, g, log, client, rc, conf.Config, lease, submitted.Plan, format)
}

// check returns the output format, or an error if a flag has an invalid value.
func (f *applyFlags) check(cmd *cobra.Command) (report.Format, error) {
	format, err := commandline.ParseOutput(cmd, f.output)
	if err != nil {
		return "", err
	}
	if f.leaseTimeout <= 0 || f.wait <= 0 {
		return "", errors.New("--lease-timeout and --wait: want more than 0s")
	}
	if f.namespace == "" {
		return format, nil // run finds the release after it has read the plan and connected
	}
	return format, installed.CheckNamespace(f.namespace)
}

// readPlan reads a RebalancePlan that `evenkeel plan -o yaml` printed. The path - means standard input. The result has
// its name and its spec only.
func readPlan(path string, stdin io.Reader) (*v1alpha1.RebalancePlan, error) {
	if path == "" {
		return nil, errors.New("reading the plan: the file name is empty (use - for standard input)")
	}
	name, data, err := commandline.ReadFile(path, stdin, maxPlanBytes)
	if err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	var o v1alpha1.RebalancePlan
	if yaml.Unmarshal(data, &o) == nil && o.Kind == record.FilteredKind {
		return nil, fmt.Errorf("%s is a part of a plan, which is only shown; save the whole plan without --show-namespace, --show-node and --show-strategy", name)
	}
	o = v1alpha1.RebalancePlan{}
	if err := yaml.UnmarshalStrict(data, &o); err != nil || o.Kind != "RebalancePlan" || o.APIVersion != v1alpha1.GroupVersion.String() || o.Name == "" {
		return nil, fmt.Errorf("%s is not one plan (want the output of `evenkeel plan -o yaml`: apiVersion %s, kind RebalancePlan, with a name; "+
			"a kind Plan is of an earlier version, so make a new plan; for a List, select strategies of one mode with --strategy)", name, v1alpha1.GroupVersion)
	}
	return &v1alpha1.RebalancePlan{TypeMeta: o.TypeMeta, ObjectMeta: metav1.ObjectMeta{Name: o.Name}, Spec: o.Spec}, nil
}

// refusal returns why the process that executes plans would not execute this one, as far as that is known before the
// plan is stored, or nil. own is the hash of the configuration of this process.
func (f *applyFlags) refusal(ctx context.Context, client kubernetes.Interface, kinds *objects.Client, o *v1alpha1.RebalancePlan, own string,
	s leader.Status) error {
	p, here := record.PlanOf(o), o.Spec.Cluster.UID
	call, cancel := context.WithTimeout(ctx, connection.LookupTimeout)
	defer cancel()
	if of, err := client.CoreV1().Namespaces().Get(call, metav1.NamespaceSystem, metav1.GetOptions{}); err == nil {
		here = string(of.UID)
	}
	switch why := controller.PlanProblem(p, here, time.Now()); {
	case why != "":
		return errors.New(why)
	case s.HasOtherConfig(p.ConfigHash):
		return errors.New(controller.ConfigProblem(p.ConfigHash, s.Holder, s.ConfigHash))
	case s.Holder == "" && own != p.ConfigHash:
		return otherConfigHere(p.ConfigHash, own)
	}
	return installed.Paused(ctx, kinds)
}

// otherConfigHere says that this process does not execute a plan, because that has another configuration.
func otherConfigHere(made, own string) error {
	return fmt.Errorf("the plan was made with another configuration (hash %s), and this process would execute it with hash %s; "+
		"make a new plan, and pass the same --config to `plan` and `apply`, or none to both", made, own)
}

// submit creates the plan, and approves all its steps.
func (f *applyFlags) submit(ctx context.Context, plans *waiting.Store, o *v1alpha1.RebalancePlan, by string) (*installed.Submission, error) {
	created, err := plans.Submit(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("creating RebalancePlan %s/%s: %w", f.namespace, o.Name,
			connection.ExplainForbidden("create rebalanceplans.evenkeel.io", err))
	}
	all := waiting.StepSelection{Steps: []waiting.Range{{First: 1, Last: len(o.Spec.Moves)}}}
	done, err := plans.Decide(ctx, created.Name, waiting.ToApprove, all, by, time.Now())
	if err != nil {
		return nil, fmt.Errorf("plan %s is stored, but not approved: %w", created.Name,
			connection.ExplainForbidden("update rebalanceplans.evenkeel.io", err))
	}
	return &installed.Submission{Plans: plans, Namespace: f.namespace, Plan: created.Name, Steps: done.Steps,
		Generation: done.Plan.Object().Generation, By: by, NeedsHolder: true, NotDone: "nothing was evicted",
		Late: func() error {
			ended := fmt.Sprintf("the plan did not end within %s", f.wait)
			if ctx.Err() != nil {
				ended = "this command was stopped before the plan ended"
			}
			return fmt.Errorf("%s; its steps stay approved; to withdraw the approval: evenkeel discard --undo %s --steps %s", ended, created.Name,
				waiting.FormatSteps(done.Steps))
		}}, nil
}

// executePlan acquires the Lease and executes the plan in this process.
func (f *applyFlags) executePlan(cmd *cobra.Command, g *globalFlags, log *slog.Logger, client kubernetes.Interface, rc *rest.Config,
	conf *config.Config, lease *leader.Lease, name string, format report.Format) error {
	watching, end := context.WithCancel(context.WithoutCancel(cmd.Context()))
	o := observe.New(client, clock.RealClock{})
	defer func() { end(); o.Shutdown() }()
	o.Start(watching)
	if err := g.waitForSync(cmd.Context(), o, rc); err != nil {
		return err
	}
	counts := metrics.New(programVersion(), conf.Hash())
	loads, err := newUsageMonitor(conf, o, rc, log, counts)
	if err != nil {
		return err
	}
	set := &controllerSettings{log: log, lease: lease}
	if set.objects, err = objects.New(rc, f.namespace); err != nil {
		return err
	}
	defer set.connect(watching, client, o, f.namespace)()
	reports := g.newReportWriter(cmd, format, passlog.None, log)
	reports.table.NoHeaders = f.noHeaders
	reports.table.Context = configContext(conf)
	reports.table.Context.Repeat = newRepeatedFlags(cmd).addTo
	c := newController(reports, log, o, counts)
	set.apply(c, conf)
	lease.SetConfig(true, "") // plans of others wait for the end of this process, which does not execute them
	c.OnStep = g.printProgress
	if conf.DryRun {
		set.enableEvictions(c, conf)
	}
	g.progress.Start("reading usage from %s", conf.Load.Source)
	loads.sampleOnce(cmd.Context())
	g.progress.Start("waiting for the Lease in namespace %s", f.namespace)
	begun := false
	lease.OnWaiting = func(holder string) {
		logWaiting(log, f.namespace, holder, f.leaseTimeout)
		g.progress.Start("waiting for the Lease in namespace %s, which %s holds", f.namespace, holder)
	}
	err = lease.Lead(cmd.Context(), f.leaseTimeout, func(ctx context.Context) error {
		begun = true
		return runBeside(ctx, loads.run, func(ctx context.Context) error {
			r, err := c.ExecuteStored(ctx, name)
			if err != nil {
				err = fmt.Errorf("nothing was evicted: %w", err)
			} else {
				err = installed.Incomplete(r)
			}
			return errors.Join(err, c.UnclosedRuns(), reports.failed)
		})
	})
	return errorIfNotBegun(err, begun)
}
