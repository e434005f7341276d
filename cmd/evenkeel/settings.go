package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// controllerSettings apply each new configuration to the controller.
type controllerSettings struct {
	client   kubernetes.Interface
	observer *observe.Observer
	log      *slog.Logger
	events   evictor.EventRecorder
	store    stateWithPause
	lease    *leader.Lease
	// startEvents starts to write Events; later calls do nothing.
	startEvents func()
	bindings    bindingFilter
	usage       *usageMonitor  // nil for apply
	hints       *pressureHints // nil for apply
	// previousEvictor passes its rate limit on to the next evictor.
	previousEvictor *evictor.Live
}

// connect sets the client, the observer, the state store and the event recorder. Events are written until the context
// watching ends. The caller must call the returned function at the end.
func (s *controllerSettings) connect(watching context.Context, g *globalFlags, client kubernetes.Interface, o *observe.Observer,
	namespace string) (stop func()) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	s.client, s.observer = client, o
	s.store = stateWithPause{state.New(client, namespace), g.pauseStore(client, namespace)}
	s.events = evictor.EventRecorder{Recorder: broadcaster.NewRecorder(scheme.Scheme, "evenkeel"), Namespace: namespace,
		LookupUID: o.WorkloadUID}
	s.startEvents = onceOrWarn(s.log, "no events will be written",
		func() error { return broadcaster.StartRecordingToSinkWithContext(watching) })
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
}

// apply sets all fields of c that depend on the configuration. The controller calls apply between passes.
func (s *controllerSettings) apply(c *controller.Controller, conf *config.Config) {
	s.observer.SetMaxStaleness(time.Duration(conf.Guards.MaxStaleness))
	p := planner.New(conf.PlannerOptions())
	c.Planner, c.Replanner, c.Strategies, c.ConfigHash = p, p, conf.BuildStrategies(), conf.Hash()
	s.hints.configureReconciler(conf)
	c.Store, c.History, c.Breaker = s.store, conf.HistoryOptions(), conf.BreakerOptions()
	if conf.DryRun {
		c.Observer = dryRunObserver{s.observer, p}
		c.Mode, c.Evictor, c.BatchSize, c.HintWriter, c.Events = plan.DryRun, evictor.DryRun{}, 0, nil, nil
		return
	}
	s.enableEvictions(c, conf)
}

// enableEvictions makes c evict, even if the configuration has dryRun: true.
func (s *controllerSettings) enableEvictions(c *controller.Controller, conf *config.Config) {
	s.startEvents()
	c.Observer = s.observer // evictions use only hints that exist, never predicted ones
	live := evictor.NewLive(s.client, s.observer, s.observer.ReplacingOwnerUID, evictor.Options{
		GracePeriodSeconds: conf.Evictor.GracePeriodSeconds, PerMinute: conf.PerMinute(),
		VerifyTimeout: time.Duration(conf.Evictor.VerifyTimeout), Clock: clock.RealClock{}, Log: s.log, Events: s.events,
		CheckPause: s.evictionGate, CheckLeading: s.lease.CheckLeading,
	})
	if s.previousEvictor != nil {
		live.ContinueFrom(s.previousEvictor)
	}
	s.previousEvictor = live
	c.Mode, c.Evictor, c.BatchSize = plan.Live, live, evictor.BatchSize(conf.PerMinute())
	c.Resolver, c.Events, c.Holder = live, s.events, s.lease.Identity
	c.HintWriter, c.HintTTL = writer.New(s.client, clock.RealClock{}, s.observer.Node), time.Duration(conf.Evictor.SteerTTL)
}

// evictionGate returns the reason why the next eviction must not happen: evictions are paused, or this process lost
// the Lease. A nil reason permits the eviction. The evictor calls evictionGate before every eviction.
func (s *controllerSettings) evictionGate(ctx context.Context) *plan.Reason {
	if r := s.store.pauses.CheckPause(ctx); r != nil {
		return r
	}
	return s.lease.CheckLeading()
}

// onceOrWarn returns a function that runs f once and logs its error.
func onceOrWarn(log *slog.Logger, what string, f func() error) func() {
	return sync.OnceFunc(func() {
		if err := f(); err != nil {
			log.Warn(what, "error", err)
		}
	})
}
