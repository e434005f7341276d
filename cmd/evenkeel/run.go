package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/web"
)

// defaultLeaseTimeout is longer than a usual pass, because two jobs may start at the same time.
const defaultLeaseTimeout = 30 * time.Minute

// A process that ends waits for its notifications: after the pass of --once for notifyFlushTimeout, and after SIGTERM
// for notifyStopTimeout.
const (
	notifyFlushTimeout = 30 * time.Second
	notifyStopTimeout  = 5 * time.Second
)

type runFlags struct {
	config, output, namespace, bind string
	strategies                      []string
	once                            bool
	leaseTimeout                    time.Duration
}

func newRun(g *globalFlags) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use: "run", Short: "Run strategies on their schedules, or once with --once", Args: rejectArguments,
		Long: "Runs each strategy on its schedule while it holds the Lease. With --once it makes one pass and exits: with 0 after\nthe pass, and with 1 if something prevented it or if it could judge nothing, and if a strategy that is due or hints lack usage data.",
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, g) },
	}
	fl := c.Flags()
	fl.StringVar(&f.config, "config", "", "configuration file (default: the built-in one, always a dry run)")
	fl.BoolVar(&f.once, "once", false, "make one pass and exit")
	fl.StringSliceVar(&f.strategies, "strategy", nil,
		"with --once: strategies that are due (default: all); the goals of the others are constraints")
	fl.StringVarP(&f.output, "output", "o", "", "report as table, wide, yaml, or json, one line each (default: table with --once, else json)")
	fl.DurationVar(&f.leaseTimeout, "lease-timeout", defaultLeaseTimeout,
		"with --once: how long to wait for the Lease, for example while another job makes its pass")
	addLeaseNamespaceFlag(fl, &f.namespace)
	fl.StringVar(&f.bind, "bind-address", ":8080",
		"address of /livez, /readyz, /metrics and, with hints, /status and /nodes; unused with --once")
	return c
}

func (f *runFlags) run(cmd *cobra.Command, g *globalFlags) error {
	log := g.logger(cmd)
	if f.output == "" {
		f.output = string(report.JSON)
		if f.once {
			f.output = string(report.Table)
		}
	}
	format, err := parseFormat(f.output)
	if err != nil {
		return err
	}
	r := &runCommand{runFlags: f, g: g, log: log, metrics: metrics.New(programVersion(), ""), settings: &controllerSettings{log: log},
		reports: &reportWriter{out: cmd.OutOrStdout(), format: format, log: log}}
	changes, err := r.connect(cmd)
	if err != nil {
		return err
	}
	// The observer outlives the context of the command: after SIGTERM, the evictor still watches accepted evictions.
	watching, endWatching := context.WithCancel(context.WithoutCancel(cmd.Context()))
	defer func() { endWatching(); r.observer.Shutdown() }()
	set := r.settings
	if set.usage, err = newUsageMonitor(r.conf, r.observer, r.rest, log, r.metrics.UsageRecorder); err != nil {
		return err
	}
	set.hints = newPressureHints(r.client, r.observer, r.metrics, log, set.usage.nodeUsage, set.usage.sampled,
		func(n *corev1.Node, problem string) { set.events.InvalidHintRecord(n, problem) })
	defer r.startNotifier(cmd.Context())()
	if !f.once { // a single pass sees too few bindings
		set.applyOutsidePass(r.conf)
		r.trust = newSchedulerTrust(&set.bindings, r.observer, r.metrics, log)
	}
	r.observer.Start(watching)
	defer set.connect(watching, g, r.client, r.observer, f.namespace)()
	set.lease = &leader.Lease{Client: r.client, Namespace: f.namespace, Identity: leaseIdentity(), OnLeadingChange: func(leads bool) {
		r.metrics.SetLeading(leads)
		log.Info("leadership", "leads", leads, "namespace", f.namespace)
	}}
	c := newController(r.reports, log, r.observer, r.metrics)
	c.Reloads, c.RefusedInputs, c.Trust, c.Notifier = changes, r.files.rejectedFiles, r.trust, set.notifier
	set.apply(c, r.conf)
	r.controller = c
	if f.once {
		return r.runOnce(cmd.Context(), c)
	}
	defer r.files.start(watching)()
	return r.runSchedules(cmd.Context(), c)
}

// runCommand is one execution of the command run.
type runCommand struct {
	*runFlags
	g        *globalFlags
	log      *slog.Logger
	metrics  *metrics.Metrics
	reports  *reportWriter
	files    watchedFiles
	settings *controllerSettings
	conf     *config.Config
	due      []string // names of the due strategies
	client   kubernetes.Interface
	rest     *rest.Config
	observer *observe.Observer
	trust    *controller.SchedulerTrust // nil with --once

	controller *controller.Controller
}

// connect loads the configuration, checks the flags, and connects to the cluster. Without --once, the program follows
// changes of the configuration, which it receives on the returned channel, and changes of the credentials.
func (r *runCommand) connect(cmd *cobra.Command) (changes <-chan func(*controller.Controller), err error) {
	if r.once {
		r.conf, err = loadConfig(r.config)
	} else {
		r.conf, changes, err = r.files.loadAndWatchConfig(r.config, r.metrics, r.log, r.settings.applyOutsidePass, r.settings.apply)
	}
	if err != nil {
		return nil, err
	}
	r.metrics.SetConfigHash(r.conf.Hash())
	if cmd.Flags().Changed("strategy") && !r.once {
		return nil, errors.New("--strategy requires --once; without --once every strategy runs on its schedule")
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.due, err = dueStrategies(cmd, r.conf.BuildStrategies(), r.strategies); err != nil {
		return nil, err
	}
	if r.once {
		if err := rejectEvents(r.conf.BuildStrategies(), r.due); err != nil {
			return nil, err
		}
		r.client, r.rest, err = r.g.client()
	} else {
		r.client, r.rest, err = r.files.newReloadingClient(r.g, r.metrics, r.log, func() { r.observer.CredentialsRenewed() })
	}
	if err == nil {
		r.observer = observe.New(r.client, clock.RealClock{})
	}
	return changes, err
}

// startNotifier starts to send notifications. The caller must call the returned function at the end, which waits for
// the notifications that are still to be sent.
func (r *runCommand) startNotifier(ctx context.Context) (stop func()) {
	n := notify.New(clock.RealClock{}, r.log, r.metrics)
	n.Configure(r.conf.NotifyReceivers())
	r.settings.notifier = n
	return func() {
		if r.once && ctx.Err() == nil {
			n.Close(notifyFlushTimeout)
			return
		}
		n.Close(notifyStopTimeout)
	}
}

// runSchedules serves the web endpoints, and runs the strategies on their schedules while this process leads.
func (r *runCommand) runSchedules(ctx context.Context, c *controller.Controller) error {
	set := r.settings
	r.log.Info("running", "mode", c.Mode, "cluster", serverHost(r.rest), "namespace", r.namespace, "config", r.conf.Hash(), "strategies", r.due)
	live := func() error { return errors.Join(set.lease.CheckHealth(), c.CheckProgress()) }
	return r.serve(ctx, live, append(web.WatcherRoutes(set.usage), web.HintRoutes(set.hints)...), func(ctx context.Context) error {
		return runBeside(ctx, set.usage.run, func(ctx context.Context) error {
			warnIfPaused(ctx, set.store.Pauses, c.Mode, r.log)
			return runBeside(ctx, r.trust.Run, func(ctx context.Context) error { return runAsLeader(ctx, set.lease, c, set.hints) })
		})
	})
}

// warnIfPaused logs a pause that was there before this process. Uninstalling does not remove a
// pause, so it may be older than the installation. If the pause cannot be read, warnIfPaused logs
// nothing: every pass reads it again.
func warnIfPaused(ctx context.Context, pauses state.PauseStore, mode plan.Mode, log *slog.Logger) {
	p, err := pauses.Read(ctx)
	if mode != plan.Live || err != nil || p == nil {
		return
	}
	log.Warn("an earlier pause holds this installation: nothing is evicted until the pause ends", "pause", p.Block().Reason.Message,
		"age", plan.AgeText(pauses.Clock.Since(p.Since)), "configMap", pauses.Namespace+"/"+state.PauseName,
		"toResume", "evenkeel resume --lease-namespace "+pauses.Namespace)
}

// runOnce makes a single pass.
func (r *runCommand) runOnce(ctx context.Context, c *controller.Controller) error {
	set := r.settings
	if err := set.usage.checkSampleCounts(); err != nil {
		return err
	}
	if err := r.g.waitForSync(ctx, r.observer, r.rest); err != nil {
		r.reportMissingPermission(ctx, err)
		return err
	}
	set.usage.sampleOnce(ctx)
	warnAboutShortTTL(r.conf, time.Now(), r.log)
	begun := false
	work := func(ctx context.Context) error {
		return runBeside(ctx, set.usage.run, func(ctx context.Context) error {
			unwritten := set.hints.reconcileOnce(ctx, r.conf)
			err := runBeside(ctx, set.hints.run, func(ctx context.Context) error {
				begun = true
				return errors.Join(runSinglePass(ctx, c, r.due), r.reports.failed)
			})
			return errors.Join(err, unwritten)
		})
	}
	var err error
	if r.conf.DryRun {
		err = work(ctx) // a dry run evicts nothing, so it needs no Lease
	} else {
		set.lease.OnWaiting = func(holder string) { logWaiting(r.log, r.namespace, holder, r.leaseTimeout) }
		err = set.lease.Lead(ctx, r.leaseTimeout, work)
	}
	return errorIfNotBegun(err, begun)
}

func logWaiting(log *slog.Logger, namespace, holder string, atMost time.Duration) {
	log.Info("waiting for the Lease, which another process holds; if that process has died, the Lease becomes free within 20 seconds",
		"namespace", namespace, "holder", holder, "atMost", atMost)
}

// runAsLeader runs the controller while this process leads. Dry runs use a separate Lease and therefore never block a
// process that evicts. If a new configuration changes dryRun, the process switches to the other Lease.
func runAsLeader(ctx context.Context, lease *leader.Lease, c *controller.Controller, hints *pressureHints) error {
	for ctx.Err() == nil {
		lease.DryRun = c.Mode != plan.Live
		if err := lease.Lead(ctx, 0, func(ctx context.Context) error {
			return runBeside(ctx, hints.run, func(ctx context.Context) error { return runPasses(ctx, c) })
		}); err != nil {
			return err
		}
	}
	return nil
}

// runPasses makes passes until a new configuration changes dryRun, or until ctx ends. In the latter case, the error
// names each run that runPasses could not close.
func runPasses(ctx context.Context, c *controller.Controller) error {
	c.Run(ctx)
	if ctx.Err() == nil {
		return nil
	}
	return c.UnclosedRuns()
}

// check validates flags before the command connects to the cluster.
func (f *runFlags) check() error {
	if f.leaseTimeout <= 0 {
		return fmt.Errorf("--lease-timeout: %s is too short (want more than 0s)", f.leaseTimeout)
	}
	if err := checkNamespace(f.namespace); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(f.bind)
	if err != nil {
		return fmt.Errorf("--bind-address: %q is not an address (want HOST:PORT, or :PORT for every address)", f.bind)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("--bind-address: %q is not a port (want 1 to 65535, or 0 for any free port)", port)
	}
	return nil
}

// runSinglePass executes approved steps of a waiting plan, if there are any. Then it makes one
// pass, and returns an error if the pass could not run to its end.
func runSinglePass(ctx context.Context, c *controller.Controller, due []string) error {
	c.ExecuteApproved(ctx)
	r, err := c.RunOnce(ctx, due)
	switch {
	case err != nil:
		err = fmt.Errorf("nothing was evicted: %w", err)
	case r.Stopped != nil:
		err = fmt.Errorf("the pass stopped early: %s: %s", r.Stopped.Code, r.Stopped.Message)
	}
	if !r.EndedBeforePlanning() { // otherwise err names the cause
		err = errors.Join(err, unjudgedErrors(r.Plan, due))
	}
	return errors.Join(err, c.UnclosedRuns())
}

// unjudgedErrors returns an error if the pass could judge nothing. Otherwise, it returns an error for each due strategy
// without usage data, and for hints without usage data.
func unjudgedErrors(p plan.Plan, due []string) error {
	if causes := p.NothingJudgedText(); causes != "" {
		return fmt.Errorf("nothing could be judged: %s", causes)
	}
	errs := emptyScopeErrors(p, due)
	for _, st := range p.Strategies {
		if st.NoData != "" && slices.Contains(due, st.Name) {
			errs = append(errs, fmt.Errorf("strategy %s moved nothing: %s; see the inputs in the report", st.Name, st.NoData))
		}
	}
	if p.HintsNoData != "" {
		errs = append(errs, fmt.Errorf("hints evaluated no node: %s; see the inputs in the report", p.HintsNoData))
	}
	return errors.Join(errs...)
}

// emptyScopeErrors returns an error for each due strategy if the own selectors of every one of them select nothing.
func emptyScopeErrors(p plan.Plan, due []string) (errs []error) {
	for _, st := range p.Strategies {
		if !slices.Contains(due, st.Name) {
			continue
		}
		if st.NothingInScope == "" {
			return nil
		}
		errs = append(errs, fmt.Errorf("strategy %s moved nothing: %s (%s)", st.Name, st.NothingInScope, plan.NothingInScope))
	}
	return errs
}

// reportMissingPermission publishes the report of a pass that cannot begin, because the account may
// not read the cluster.
func (r *runCommand) reportMissingPermission(ctx context.Context, err error) {
	if controller.IsPermissionMissing(err) {
		r.controller.ReportUnreadable(ctx, r.due, err)
	}
}

// serve runs the web server and work in parallel. If either fails, serve stops the other.
func (r *runCommand) serve(ctx context.Context, live func() error, routes []web.Route, work func(context.Context) error) error {
	l, err := net.Listen("tcp", r.bind)
	if err != nil {
		return fmt.Errorf("listening for health checks: %w; set --bind-address", err)
	}
	r.log.Info("serving /livez, /readyz and /metrics", "address", l.Addr().String())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	served := make(chan error, 1)
	go func() {
		err := web.Serve(ctx, l, web.Health{Live: live, Ready: r.observer.Synced}, r.metrics.Registry, routes...)
		cancel(err)
		served <- err
	}()
	if err := r.observer.WaitForSync(ctx); err != nil && ctx.Err() == nil {
		r.reportMissingPermission(ctx, err)
		cancel(err)
		<-served
		return fmt.Errorf("reading the cluster: %w", err)
	}
	err = work(ctx)
	cancel(err)
	return errors.Join(err, <-served)
}
