package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/installed"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/passlog"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/internal/logging"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/record"
	"github.com/evenkeel-project/evenkeel/report"
	"github.com/evenkeel-project/evenkeel/web"
)

// A process that ends waits for its notifications: after the pass of --once for notifyFlushTimeout, and after SIGTERM
// for notifyStopTimeout.
const (
	notifyFlushTimeout = 30 * time.Second
	notifyStopTimeout  = 5 * time.Second
)

type runFlags struct {
	serving                   servingFlags
	config, output, namespace string
	pushURL                   string
	logReport                 logging.Choice
	strategies                []string
	once, noHeaders           bool
	leaseTimeout, passTimeout time.Duration
}

func newRun(g *globalFlags) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use: "run", Short: "Run strategies on their schedules, or once with --once", Args: commandline.NoArguments,
		Long: "Run each strategy on its schedule while this process holds the Lease.\n\n" +
			"With --once, the command runs one pass and exits. The exit code is 0 if the pass ran,\n" +
			"and 1 in these cases:\n\n" +
			"- An error prevented the pass.\n" +
			"- The pass could not measure any goal or predict any replacement.\n" +
			"- Usage data is missing for hints or for a strategy that is due.",
		Example: "  # Start a dry run with the built-in configuration\n  evenkeel run\n\n  # Use a configuration that may permit evictions\n  evenkeel run --config config.yaml\n\n  # Run one pass of one strategy, like a CronJob's Job\n  evenkeel run --once --strategy zones --config config.yaml",
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd, g) },
	}
	fl := c.Flags()
	fl.StringVar(&f.config, "config", "", "configuration file (default: the built-in configuration, which is always a dry run)")
	fl.BoolVar(&f.once, "once", false, "run one pass and exit")
	fl.StringSliceVar(&f.strategies, "strategy", nil,
		"with --once: strategies to run; goals of all other strategies become constraints (default: all)")
	fl.StringVarP(&f.output, "output", "o", string(report.Table), "report format with --once: table, wide, yaml, html, markdown, json (one line per report), "+commandline.ObjectForms)
	commandline.AddNoHeaders(fl, &f.noHeaders)
	f.logReport.Names = passlog.Details()
	fl.Var(&f.logReport, "log-report",
		"log output for each pass: none, lines (one line for the pass and one for each move), or full (these lines and the whole report) (default: lines, or none with --once)")
	fl.DurationVar(&f.leaseTimeout, "lease-timeout", defaultLeaseTimeout,
		"with --once: how long to wait for the Lease, for example while another Job runs its pass")
	fl.DurationVar(&f.passTimeout, "pass-timeout", 0,
		"with --once: how long after acquiring the Lease the pass may start evictions; the next pass executes the rest (default: no limit)")
	addLeaseNamespaceFlag(fl, &f.namespace)
	fl.StringVar(&f.pushURL, "push-url", "",
		"with --once: URL of the Pushgateway that receives the pass's metrics, such as http://pushgateway:9091")
	f.serving.add(fl)
	return c
}

func (f *runFlags) run(cmd *cobra.Command, g *globalFlags) error {
	log := g.logger(cmd)
	format, detail, err := f.reporting(cmd, g)
	if err != nil {
		return err
	}
	r := &runCommand{runFlags: f, g: g, log: log, metrics: metrics.New(programVersion(), ""), settings: &controllerSettings{log: log},
		reports: g.newReportWriter(cmd, format, detail, log)}
	r.reports.table.NoHeaders = f.noHeaders
	r.reports.table.Namespace, r.settings.metrics = f.namespace, r.metrics
	r.metrics.ObserveClients()
	changes, err := r.connect(cmd)
	if err != nil {
		return err
	}
	r.reports.table.Context = configContext(r.conf)
	if f.once && !inPod() { // a person runs it
		r.repeated = newRepeatedFlags(cmd)
		r.repeated.addDefault("lease-namespace", f.namespace)
		r.reports.table.Context.Repeat = r.repeated.addTo
	}
	// The observer outlives the context of the command: after SIGTERM, the evictor still watches accepted evictions.
	watching, endWatching := context.WithCancel(context.WithoutCancel(cmd.Context()))
	defer func() { endWatching(); r.observer.Shutdown() }()
	set := r.settings
	if set.usage, err = newUsageMonitor(r.conf, r.observer, r.rest, log, r.metrics); err != nil {
		return err
	}
	set.hints = newPressureHints(r.client, r.observer, r.metrics, log, set.usage.nodeUsage, set.usage.sampled,
		func(n *corev1.Node, problem string) { set.events.InvalidHintRecord(n, problem) })
	defer r.startNotifier(cmd.Context())()
	if !f.once { // a single pass sees too few bindings
		set.applyOutsidePass(r.conf)
		r.trust = newSchedulerTrust(&set.bindings, r.observer, r.metrics, log)
	}
	if set.objects, err = objects.New(r.rest, f.namespace); err != nil {
		return err
	}
	r.observer.Start(watching)
	defer set.connect(watching, r.client, r.observer, f.namespace)()
	set.records.Schedule = "Deployment"
	switch {
	case f.once && inPod():
		set.records.Schedule = "CronJob"
	case f.once:
		set.records.Schedule = record.Command
	}
	set.lease = &leader.Lease{Client: r.client, Namespace: f.namespace, Identity: leaseIdentity(), Version: programVersion(), OnLeadingChange: func(leads bool) {
		if leads || !f.once { // a single pass pushes its metrics when it no longer leads
			r.metrics.SetLeading(leads)
		}
		log.Info("leadership", "leads", leads, "namespace", f.namespace)
	}}
	set.lease.StopWaiting = r.files.configChanged
	c := newController(r.reports, log, r.observer, r.metrics)
	c.Reloads, c.RefusedInputs, c.Trust, c.Notifier = changes, r.files.rejectedFiles, r.trust, set.notifier
	set.apply(c, r.conf)
	r.controller = c
	if f.once {
		set.lease.SetConfig(r.conf.Approvals.Enabled, "") // apply waits for the end of this process, and then executes its plan
		defer r.pushMetrics(cmd.Context())
		return r.runOnce(cmd.Context(), c)
	}
	defer r.files.start(watching)()
	return r.runSchedules(cmd.Context(), c)
}

// reporting returns the format of the reports on standard output, which is "" without --once, and what the log says
// about each pass.
func (f *runFlags) reporting(cmd *cobra.Command, g *globalFlags) (format report.Format, detail passlog.Detail, err error) {
	detail = passlog.Lines
	if f.once {
		detail = passlog.None
		if format, err = commandline.ParseOutput(cmd, f.output); err != nil {
			return "", "", err
		}
	} else if cmd.Flags().Changed("output") || f.noHeaders {
		return "", "", errors.New("--output and --no-headers require --once; without --once the log has the passes, and with --log-report full their reports")
	}
	detail = cmp.Or(passlog.Detail(f.logReport.Value), detail)
	if detail == passlog.Full && !g.log.JSON() {
		return "", "", errors.New("--log-report full requires --log-format json, because a text line has at most 16 KiB")
	}
	return format, detail, nil
}

// runCommand is one execution of the command run.
type runCommand struct {
	*runFlags
	g        *globalFlags
	log      *slog.Logger
	metrics  *metrics.Metrics
	reports  *reportWriter
	repeated *repeatedFlags // nil unless a person runs a single pass
	files    watchedFiles
	settings *controllerSettings
	conf     *config.Config
	due      []string // names of the due strategies
	client   kubernetes.Interface
	rest     *rest.Config
	observer *observe.Observer
	trust    *controller.SchedulerTrust    // nil with --once
	newest   atomic.Pointer[config.Config] // the newest valid configuration

	certificate *web.Certificate // nil: plain HTTP

	controller *controller.Controller
	pusher     *metrics.Pusher // nil without --push-url
}

// connect loads the configuration, checks the flags, and connects to the cluster. Without --once, the program follows
// changes of the configuration, which it receives on the returned channel, and changes of the credentials.
func (r *runCommand) connect(cmd *cobra.Command) (changes <-chan func(*controller.Controller), err error) {
	if r.once {
		r.conf, err = installed.Load(r.config)
	} else {
		r.metrics.ExpectModeChanges()
		r.conf, changes, err = r.files.loadAndWatchConfig(r.config, r.metrics, r.log, func(conf *config.Config) {
			if before := r.newest.Swap(conf); before.DryRun != conf.DryRun {
				r.log.Info("dryRun changed, and so do the permissions of the release; requests that were forbidden in the last minutes do not count",
					"dryRun", conf.DryRun, "forbiddenRequests", r.metrics.ModeChanged())
			}
			r.settings.applyOutsidePass(conf)
		}, r.settings.apply)
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
	if r.pusher, err = r.newPusher(); err != nil {
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
		r.newest.Store(r.conf)
		if r.certificate, err = r.files.loadAndWatchCertificate(r.serving.certFile, r.serving.keyFile, r.metrics, r.log); err != nil {
			return nil, err
		}
		r.client, r.rest, err = r.files.newReloadingClient(r.g, r.metrics, r.log, func() { r.observer.CredentialsRenewed() })
	}
	if err == nil {
		r.observer = observe.New(r.client, clock.RealClock{})
		r.metrics.WatchViewAge(func() (time.Duration, bool) { return observe.ViewAge(r.observer) })
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

// check validates flags before the command connects to the cluster.
func (f *runFlags) check() error {
	if f.leaseTimeout <= 0 {
		return fmt.Errorf("--lease-timeout: %s is too short (want more than 0s)", f.leaseTimeout)
	}
	if f.passTimeout < 0 {
		return fmt.Errorf("--pass-timeout: %s is negative (want more than 0s, or no limit with 0s)", f.passTimeout)
	}
	if err := installed.CheckNamespace(f.namespace); err != nil {
		return err
	}
	return f.serving.check()
}

// inPod reports whether this process runs in a pod. The chart sets the first variable, and the kubelet the second one.
func inPod() bool {
	return os.Getenv("POD_NAMESPACE") != "" || os.Getenv("KUBERNETES_SERVICE_HOST") != ""
}
