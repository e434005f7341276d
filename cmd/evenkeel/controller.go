package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/passlog"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/notify"
	"github.com/evenkeel-project/evenkeel/controller/records"
	"github.com/evenkeel-project/evenkeel/controller/release"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/controller/waiting"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/internal/progress"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/report"
)

// controllerSettings apply each new configuration to the controller.
type controllerSettings struct {
	client   kubernetes.Interface
	objects  *objects.Client
	observer *observe.Observer
	log      *slog.Logger
	events   evictor.EventRecorder
	store    state.WithPause
	lease    *leader.Lease
	// waiting are the plans that wait, which the controller follows only if the configuration says so.
	waiting controller.WaitingPlans
	// startEvents starts to write Events; later calls do nothing.
	startEvents func()
	bindings    podBindingFilter
	// records keep the objects of the release.
	records  *records.Store
	usage    *usageMonitor                   // nil for apply
	hints    *pressureHints                  // nil for apply
	notifier *notify.Notifier                // nil for apply
	metrics  *metrics.Metrics                // nil for apply
	pauses   *controller.PauseFollower       // nil for apply
	others   *controller.DeschedulerFollower // nil for apply
	// previousEvictor passes its rate limit on to the next evictor.
	previousEvictor *evictor.Live
}

// connect sets the client, the observer, the state store and the event recorder. Events are written until the context
// watching ends. The caller must call the returned function at the end.
func (s *controllerSettings) connect(watching context.Context, client kubernetes.Interface, o *observe.Observer,
	namespace string) (stop func()) {
	broadcaster := events.NewBroadcaster(&evictor.EventSink{EventSink: &events.EventSinkImpl{Interface: client.EventsV1()},
		Denied: func(effect string, err error) { s.log.Warn(effect, "error", err) }})
	s.client, s.observer = client, o
	s.store = state.WithPause{Store: state.New(client, namespace), Pauses: state.NewPauseStore(s.objects)}
	s.waiting = waiting.New(s.objects)
	s.records = &records.Store{Client: s.objects, Clock: clock.RealClock{}, Log: s.log, Version: programVersion(),
		EvictorLeads: func(ctx context.Context) (bool, error) {
			of, err := release.In(ctx, client, namespace, time.Now())
			if errors.As(err, new(release.NoLeaseError)) {
				err = nil
			}
			return of.Holder != "", err
		}}
	s.events = evictor.EventRecorder{Recorder: broadcaster.NewRecorder(scheme.Scheme, "evenkeel"), Namespace: namespace,
		LookupUID: o.WorkloadUID}
	if s.metrics != nil {
		s.pauses = &controller.PauseFollower{Pauses: s.store.Pauses, Events: s.events, Recorder: s.metrics, Status: s.records,
			Clock: clock.RealClock{}, Log: s.log}
		s.others = &controller.DeschedulerFollower{Events: s.events, Recorder: s.metrics, Log: s.log,
			Announce: func(others []plan.OtherDescheduler) { s.lease.SetOtherDeschedulers(others) }}
	}
	s.startEvents = sync.OnceFunc(func() {
		if err := broadcaster.StartRecordingToSinkWithContext(watching); err != nil {
			s.log.Warn("no Events will be written", "error", err)
		}
	})
	return broadcaster.Shutdown
}

// applyOutsidePass immediately applies the settings that may change during a pass.
func (s *controllerSettings) applyOutsidePass(conf *config.Config) {
	s.bindings.setConfig(conf)
	if s.hints != nil {
		s.hints.setConfig(conf)
	}
	if s.usage != nil {
		s.usage.setConfig(conf)
	}
	if s.notifier != nil {
		s.notifier.Configure(conf.NotifyReceivers())
	}
}

// apply sets all fields of c that depend on the configuration. The controller calls apply between passes.
func (s *controllerSettings) apply(c *controller.Controller, conf *config.Config) {
	p := planner.New(conf.PlannerOptions())
	c.Planner, c.Strategies, c.ConfigHash = p, conf.BuildStrategies(), conf.PlanHash()
	s.hints.configureReconciler(conf)
	if s.metrics != nil {
		s.metrics.SetStrategies(strategyNames(c.Strategies))
	}
	c.Runs, c.Waiting, c.ValidFor = s.objects.Runs, nil, time.Duration(conf.Approvals.ValidFor)
	s.lease.SetConfig(conf.Approvals.Enabled, c.ConfigHash)
	if conf.Approvals.Enabled {
		c.Waiting = s.waiting
	}
	s.store.DryRun = conf.DryRun
	c.Store, c.History, c.Breaker = s.store, conf.HistoryOptions(), conf.BreakerOptions()
	s.records.Holder = s.lease.Identity
	s.records.Retention = records.Retention{Keep: time.Duration(conf.History.Keep), MaxBytes: records.MaxBytes}
	c.Records, c.PerPass, c.MaxPlanTime = s.records, conf.Limits.PerPass, time.Duration(conf.Limits.MaxPlanTime)
	c.StepTimeout = controller.StepTimeout(time.Duration(conf.Guards.MaxGracePeriod), time.Duration(conf.Evictor.VerifyTimeout))
	if conf.DryRun {
		c.Observer = dryRunObserver{s.observer, p}
		c.Mode, c.Evictor, c.BatchSize, c.HintWriter, c.Events = plan.DryRun, evictor.DryRun{}, 0, nil, nil
		c.OtherDeschedulers = nil
		return
	}
	s.enableEvictions(c, conf)
}

func strategyNames(all []schedule.Strategy) (names []string) {
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// enableEvictions makes c evict, even if the configuration has dryRun: true.
func (s *controllerSettings) enableEvictions(c *controller.Controller, conf *config.Config) {
	s.startEvents()
	s.store.DryRun = false
	c.Store = s.store
	c.Observer = s.observer // evictions use only hints that exist, never predicted ones
	live := evictor.NewLive(s.client, s.observer, s.observer.ReplacingOwnerUID, evictor.Options{
		GracePeriodSeconds: conf.Evictor.GracePeriodSeconds, MaxGracePeriod: time.Duration(conf.Guards.MaxGracePeriod),
		PerMinute: conf.PerMinute(), VerifyTimeout: time.Duration(conf.Evictor.VerifyTimeout), Clock: clock.RealClock{}, Log: s.log, Events: s.events,
		CheckPause: s.evictionGate, CheckLeading: s.lease.CheckLeading,
	})
	if s.previousEvictor != nil {
		live.ContinueFrom(s.previousEvictor)
	}
	s.previousEvictor = live
	c.Mode, c.Evictor, c.BatchSize = plan.Live, live, evictor.BatchSize(conf.PerMinute())
	c.Resolver, c.Events, c.Holder, c.CheckOtherReleases = live, s.events, s.lease.Identity, s.lease.CheckOtherReleases
	c.OtherDeschedulers = s.others
	c.FiringAlerts, c.PauseFollowed = firingAlerts(conf), s.pauses != nil
	c.Steer = hints.Kind(conf.Evictor.Steer)
	c.HintWriter = writer.New(s.client, clock.RealClock{}, s.observer.Node)
}

// followPause returns the function that follows the pause while passes run. A dry run evicts nothing, so no pause
// matters to it.
func (s *controllerSettings) followPause(mode plan.Mode) func(context.Context) {
	if mode != plan.Live {
		return func(context.Context) {}
	}
	return s.pauses.Run
}

// checkPause reads the pause once for the metrics and events of a single pass.
func (s *controllerSettings) checkPause(ctx context.Context, mode plan.Mode) {
	if mode == plan.Live {
		s.pauses.Check(ctx)
	}
}

// evictionGate returns the reason why the next eviction must not happen: evictions are paused, or this process lost
// the Lease. A nil reason permits the eviction. The evictor calls evictionGate before every eviction.
func (s *controllerSettings) evictionGate(ctx context.Context) *plan.Reason {
	if r := s.store.Pauses.CheckPause(ctx); r != nil {
		return r
	}
	return s.lease.CheckLeading()
}

// dryRunObserver adds to each snapshot the pressure hints that a live run would have written.
type dryRunObserver struct {
	controller.Observer
	planner *planner.Planner
}

// Snapshot implements controller.Observer.
func (f dryRunObserver) Snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	s, err := f.Observer.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return withPredictedHints(f.planner, s)
}

// withPredictedHints returns the snapshot with the pressure hints that the planner predicts.
func withPredictedHints(p *planner.Planner, s *cluster.Snapshot) (*cluster.Snapshot, error) {
	s, err := p.PredictHints(s)
	if err != nil {
		return nil, fmt.Errorf("predicting pressure hints: %w", err)
	}
	return s, nil
}

func newController(reports *reportWriter, log *slog.Logger, o *observe.Observer, m *metrics.Metrics) *controller.Controller {
	return &controller.Controller{Dependencies: controller.Dependencies{
		Observer: o, DeletedNodes: o.WatchDeletedNodes(breaker.LooksLost), NodeEvents: o.WatchNodeEvents(),
		Recorder: m, Clock: clock.RealClock{}, Log: log, NewRunID: newRunID, OnBatch: reports.lines.Batch, OnReport: reports.write}}
}

// reportWriter logs each pass, and writes its report.
type reportWriter struct {
	lines  passlog.Log
	out    io.Writer
	format report.Format // "" writes no report
	table  report.Options
	// progress is nil without a terminal.
	progress *progress.Line
	// failed is the error of the last report, or nil. A command that makes a single pass must return this error; a
	// long-running program only logs it.
	failed error
}

func (g *globalFlags) newReportWriter(cmd *cobra.Command, format report.Format, detail passlog.Detail, log *slog.Logger) *reportWriter {
	return &reportWriter{lines: passlog.Log{Logger: log, Detail: detail}, out: cmd.OutOrStdout(), format: format,
		table: commandline.ReportOptions(cmd.OutOrStdout()), progress: g.progress}
}

func (r *reportWriter) write(of plan.RunReport) {
	r.progress.Stop()
	if r.lines.Pass(&of); r.format == "" {
		return
	}
	if r.failed = report.Run(r.out, r.format, of, r.table); r.failed != nil {
		r.failed = fmt.Errorf("run %s: %w; the Events list its evictions", of.RunID, r.failed)
		r.lines.Logger.Error("the report was not written", "run", of.RunID, "error", r.failed)
	}
}

// errorIfNotBegun returns an error if the command was stopped before its pass began. Without this error, the exit
// code 0 would mean a complete pass.
func errorIfNotBegun(err error, begun bool) error {
	if err == nil && !begun {
		return errors.New("stopped before the pass began: nothing was evicted")
	}
	return err
}
