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

// controllerSettings apply a configuration to the controller. They outlive each configuration.
type controllerSettings struct {
	client   kubernetes.Interface
	observer *observe.Observer
	log      *slog.Logger
	events   evictor.EventRecorder
	// store keeps the state that must outlive this process.
	store stateWithPause
	// lease is the Lease that this process must hold to evict.
	lease *leader.Lease
	// startEvents starts writing Events.
	startEvents func()
	// bindings selects the bindings that count for scheduler trust.
	bindings bindingFilter
	// usage samples the source of usage.
	usage *usageMonitor
	// hints maintains pressure hints; nil for apply.
	hints *pressureHints
	// previousEvictor is the last evictor. The next one continues its rate limit.
	previousEvictor *evictor.Live
}

// connect sets the client, the observer, the state store and the event recorder. Events are written until the context
// watching ends. The caller must call stop at the end.
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

// applyOutsidePass applies a new configuration immediately to everything that does not depend on passes.
func (s *controllerSettings) applyOutsidePass(conf *config.Config) {
	s.bindings.setConfig(conf)
	if s.hints != nil {
		s.hints.setConfig(conf)
	}
	if s.usage != nil {
		s.usage.setConfig(conf)
	}
}

// apply sets everything in c that depends on the configuration. The controller calls it between passes.
func (s *controllerSettings) apply(c *controller.Controller, conf *config.Config) {
	s.observer.SetMaxStaleness(time.Duration(conf.Guards.MaxStaleness))
	p := planner.New(conf.PlannerOptions())
	c.Planner, c.Replanner, c.Strategies, c.ConfigHash = p, p, conf.BuildStrategies(), conf.Hash()
	s.hints.configureReconciler(conf)
	c.Store, c.History, c.Breaker, c.Benefits = s.store, conf.HistoryOptions(), conf.BreakerOptions(), conf.BenefitOptions()
	if conf.DryRun {
		c.Observer = dryRunObserver{s.observer, p}
		c.Mode, c.Evictor, c.BatchSize, c.HintWriter, c.Events = plan.DryRun, evictor.NewDryRun(), 0, nil, nil
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

// evictionGate returns why the next eviction must not happen: evictions are paused, or this process lost the Lease. It
// returns nil if the eviction may happen. The evictor calls it before every eviction.
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
