package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/approval"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/web"
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
		Long: "Runs each strategy on its schedule while it holds the Lease. With --once it makes one pass and exits: with 0 after\nthe pass, and with 1 if something prevented it, such as missing usage data for a strategy that is due or for hints.",
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, g) },
	}
	fl := c.Flags()
	fl.StringVar(&f.config, "config", "", "configuration file (default: the built-in one)")
	fl.BoolVar(&f.once, "once", false, "make one pass and exit")
	fl.StringSliceVar(&f.strategies, "strategy", nil,
		"with --once: strategies that are due (default: all); the goals of the others are constraints")
	fl.StringVarP(&f.output, "output", "o", "", "report as table, wide, yaml, or json, one line each (default: table with --once, else json)")
	fl.DurationVar(&f.leaseTimeout, "lease-timeout", 2*time.Minute, "with --once: how long to wait for the Lease")
	addLeaseNamespaceFlag(fl, &f.namespace)
	fl.StringVar(&f.bind, "bind-address", ":8080",
		"address of /livez, /readyz, /metrics and, with hints, /status and /nodes; unused with --once")
	return c
}

func (f *runFlags) run(cmd *cobra.Command, g *globalFlags) error {
	log := g.logger(cmd)
	format, err := f.format()
	if err != nil {
		return err
	}
	m, files := metrics.New(programVersion(), ""), &watchedFiles{}
	set := &controllerSettings{log: log}
	conf, changes, err := f.configuration(files, m, log, set)
	if err != nil {
		return err
	}
	m.SetConfigHash(conf.Hash())
	if cmd.Flags().Changed("strategy") && !f.once {
		return errors.New("--strategy requires --once; without --once every strategy runs on its schedule")
	}
	if err := f.check(); err != nil {
		return err
	}
	names, err := dueStrategies(cmd, conf.BuildStrategies(), f.strategies)
	if err != nil {
		return err
	}
	client, rc, err := f.client(files, m, log, g, func() { set.observer.CredentialsRenewed() })
	if err != nil {
		return err
	}
	// The observer outlives the context of the command: after SIGTERM, the evictor still watches accepted evictions.
	watching, endWatching := context.WithCancel(context.WithoutCancel(cmd.Context()))
	o := observe.New(client, clock.RealClock{})
	defer func() { endWatching(); o.Shutdown() }()
	if set.usage, err = newUsageMonitor(conf, o, rc, log, m.UsageRecorder); err != nil {
		return err
	}
	set.hints = newPressureHints(client, o, m, log, set.usage.nodeUsage, set.usage.sampled)
	var schedulerTrust *controller.SchedulerTrust
	if !f.once { // a single pass sees too few bindings
		set.applyOutsidePass(conf)
		schedulerTrust = newSchedulerTrust(&set.bindings, o, m, log)
	}
	o.Start(watching)
	defer set.connect(watching, g, client, o, f.namespace)()
	set.lease = &leader.Lease{Client: client, Namespace: f.namespace, Identity: leaseIdentity(), OnLeadingChange: func(leads bool) {
		m.SetLeading(leads)
		log.Info("leadership", "leads", leads, "namespace", f.namespace)
	}}
	reports := &reportWriter{out: cmd.OutOrStdout(), format: format, log: log}
	c := newController(reports, log, o, m)
	c.Reloads, c.RefusedInputs, c.Trust = changes, files.rejectedFiles, schedulerTrust
	c.Approvals = approval.New(client, f.namespace)
	set.apply(c, conf)

	if !f.once {
		defer files.start(watching)()
		log.Info("running", "mode", c.Mode, "cluster", serverHost(rc), "namespace", f.namespace, "config", conf.Hash(), "strategies", names)
		return f.serve(cmd.Context(), log, o, m, append(web.WatcherRoutes(set.usage), web.HintRoutes(set.hints)...),
			func(ctx context.Context) error {
				return set.usage.runWith(ctx, func(ctx context.Context) error {
					return runWithTrust(ctx, schedulerTrust, func(ctx context.Context) error { return runAsLeader(ctx, set.lease, c, set.hints) })
				})
			})
	}
	if err := set.usage.checkSampleCounts(); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(cmd.Context(), g.syncTimeout)
	defer cancel()
	if err := o.WaitForSync(wait); err != nil {
		return fmt.Errorf("reading the cluster at %s: %w", serverHost(rc), err)
	}
	set.usage.sampleOnce(cmd.Context())
	warnAboutShortTTL(conf, time.Now(), log)
	begun := false
	pass := func(ctx context.Context, c *controller.Controller) error {
		begun = true
		err := runSinglePass(ctx, c, names)
		return errors.Join(err, reports.failed)
	}
	work := func(ctx context.Context) error {
		return set.usage.runWith(ctx, func(ctx context.Context) error { return set.hints.runOnceWith(ctx, c, conf, pass) })
	}
	if conf.DryRun {
		err = work(cmd.Context()) // a dry run evicts nothing, so it needs no Lease
	} else {
		err = set.lease.Lead(cmd.Context(), f.leaseTimeout, work)
	}
	return errorIfNotBegun(err, begun)
}

// runAsLeader runs the controller while this process leads. Dry runs use a separate Lease and therefore never block a
// process that evicts. If a new configuration changes dryRun, the process switches to the other Lease.
func runAsLeader(ctx context.Context, lease *leader.Lease, c *controller.Controller, hints *pressureHints) error {
	for ctx.Err() == nil {
		lease.DryRun = c.Mode != plan.Live
		if err := lease.Lead(ctx, 0, func(ctx context.Context) error { return hints.runWith(ctx, c, runPasses) }); err != nil {
			return err
		}
	}
	return nil
}

// runPasses makes passes until a new configuration changes dryRun or ctx ends. If ctx ends, runPasses returns an
// error for each run that it could not close.
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

func (f *runFlags) format() (report.Format, error) {
	if f.output == "" {
		f.output = string(report.JSON)
		if f.once {
			f.output = string(report.Table)
		}
	}
	format, err := report.ParseFormat(f.output)
	if err != nil {
		return "", fmt.Errorf("--output: %w", err)
	}
	return format, nil
}

// runSinglePass makes one pass. It returns an error if the pass could not run to its end. Rejected and dropped moves
// are not errors.
func runSinglePass(ctx context.Context, c *controller.Controller, due []string) error {
	r, err := c.RunOnce(ctx, due)
	switch {
	case err != nil:
		err = fmt.Errorf("nothing was evicted: %w", err)
	case r.Stopped != nil:
		err = fmt.Errorf("the pass stopped early: %s: %s", r.Stopped.Code, r.Stopped.Message)
	}
	return errors.Join(err, unknownUsageErrors(r.Plan, due), c.UnclosedRuns())
}

// unknownUsageErrors returns an error for each due strategy without usage data, and for hints without usage data.
func unknownUsageErrors(p plan.Plan, due []string) error {
	var errs []error
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

// configuration loads the configuration. Without --once it also watches the file for changes.
func (f *runFlags) configuration(files *watchedFiles, m *metrics.Metrics, log *slog.Logger,
	s *controllerSettings) (*config.Config, <-chan func(*controller.Controller), error) {
	if !f.once {
		return files.loadAndWatchConfig(f.config, m, log, s.applyOutsidePass, s.apply)
	}
	conf, err := loadConfig(f.config)
	return conf, nil, err
}

// client connects to the cluster. Without --once the client takes over changed credentials.
func (f *runFlags) client(files *watchedFiles, m *metrics.Metrics, log *slog.Logger, g *globalFlags,
	renewed func()) (kubernetes.Interface, *rest.Config, error) {
	if !f.once {
		return files.newReloadingClient(g, m, log, renewed)
	}
	return g.client()
}

func newController(reports *reportWriter, log *slog.Logger, o *observe.Observer, m *metrics.Metrics) *controller.Controller {
	return &controller.Controller{Dependencies: controller.Dependencies{Observer: o}, Recorder: m, Clock: clock.RealClock{}, Log: log, NewRunID: newRunID,
		OnReport: reports.write}
}

// serve runs the web server and work in parallel. If either fails, serve stops the other.
func (f *runFlags) serve(ctx context.Context, log *slog.Logger, o *observe.Observer, m *metrics.Metrics, routes []web.Route,
	work func(context.Context) error) error {
	l, err := net.Listen("tcp", f.bind)
	if err != nil {
		return fmt.Errorf("listening for health checks: %w; set --bind-address", err)
	}
	log.Info("serving /livez, /readyz and /metrics", "address", l.Addr().String())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	served := make(chan error, 1)
	go func() {
		err := web.Serve(ctx, l, o.Synced, m.Registry, routes...)
		cancel(err)
		served <- err
	}()
	if err := o.WaitForSync(ctx); err != nil && ctx.Err() == nil {
		cancel(err)
		<-served
		return fmt.Errorf("reading the cluster: %w", err)
	}
	err = work(ctx)
	cancel(err)
	return errors.Join(err, <-served)
}

func leaseIdentity() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return name + "_" + newRunID()
}

// newRunID returns 8 random hex digits.
func newRunID() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}
