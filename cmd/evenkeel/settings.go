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
	"github.com/evenkeel-project/evenkeel/controller/state"
	"github.com/evenkeel-project/evenkeel/evictor"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner"
)

// settings make what a configuration decides. They outlive the configuration.
type settings struct {
	client   kubernetes.Interface
	observer *observe.Observer
	log      *slog.Logger
	events   evictor.Recorded
	// memory is where everything that must outlive this process is kept.
	memory remembered
	// lease is what evictions are made under.
	lease *controller.Lease
	// record begins to write events.
	record func()
	// wanted are the bindings that are looked at beside the passes.
	wanted wanted
	// loads asks the source of usage.
	loads *measuring
	// hints are kept where the program keeps running; nil: they are not.
	hints *pressureHints
	// before evicted last: the pace goes on where it stopped.
	before *evictor.Live
}

// connect sets where evictions are made, remembered and told of. Events are written
// until watching ends; who calls it calls stop in the end.
func (s *settings) connect(watching context.Context, g *global, client kubernetes.Interface, o *observe.Observer, namespace string) (stop func()) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	s.client, s.observer = client, o
	s.memory = remembered{state.New(client, namespace), g.pauses(client, namespace)}
	s.events = evictor.Recorded{Recorder: broadcaster.NewRecorder(scheme.Scheme, "evenkeel"), Namespace: namespace, UID: o.WorkloadUID}
	s.record = onceWarned(s.log, "no events will be written", func() error { return broadcaster.StartRecordingToSinkWithContext(watching) })
	return broadcaster.Shutdown
}

// atOnce is told of every new configuration before any pass is.
func (s *settings) atOnce(conf *config.Config) {
	s.wanted.take(conf)
	if s.hints != nil {
		s.hints.take(conf)
	}
	if s.loads != nil {
		s.loads.take(conf)
	}
}

// apply sets everything in c that depends on the configuration.
func (s *settings) apply(c *controller.Controller, conf *config.Config) {
	s.observer.SetMaxStaleness(time.Duration(conf.Guards.MaxStaleness))
	p := planner.New(conf.Planner())
	c.Planner, c.Again, c.Strategies, c.ConfigHash = p, p, conf.Build(), conf.Hash()
	s.hints.configure(conf)
	c.Memory, c.Ledger, c.Breaker, c.Benefits = s.memory, conf.Ledger(), conf.Breaker(), conf.Benefits()
	if conf.DryRun {
		c.Observer = foretelling{s.observer, p}
		c.Mode, c.Evictor, c.AtOnce, c.Hinter, c.Events = plan.DryRun, evictor.NewDryRun(), 0, nil, nil
		return
	}
	s.evict(c, conf)
}

// evict sets what evictions need, also where the configuration says dryRun.
func (s *settings) evict(c *controller.Controller, conf *config.Config) {
	s.record()
	c.Observer = s.observer // what is evicted is judged by what stands, and never by what is foretold
	live := evictor.NewLive(s.client, s.observer, s.observer.ReplacingOwnerUID, evictor.Options{
		GracePeriodSeconds: conf.Evictor.GracePeriodSeconds, PerMinute: conf.PerMinute(),
		VerifyTimeout: time.Duration(conf.Evictor.VerifyTimeout), Clock: clock.RealClock{}, Log: s.log, Events: s.events, Gate: s.gate, Held: s.lease.Held,
	})
	if s.before != nil {
		live.Follow(s.before)
	}
	s.before = live
	c.Mode, c.Evictor, c.AtOnce = plan.Live, live, evictor.AtOnce(conf.PerMinute())
	c.Resolver, c.Events, c.Holder = live, s.events, s.lease.Identity
	c.Hinter, c.HintTTL = writer.New(s.client, clock.RealClock{}, s.observer.Node), time.Duration(conf.Evictor.SteerTTL)
}

// gate is asked before every eviction: nobody has paused them, and this process
// still holds the Lease.
func (s *settings) gate(ctx context.Context) *plan.Reason {
	if r := s.memory.pauses.Gate(ctx); r != nil {
		return r
	}
	return s.lease.Held()
}

// remembered is what passes remember, with the pause that holds. Unlike recalled it
// fails where the pause cannot be read.
type remembered struct {
	*state.Store
	pauses state.Pauses
}

// Load implements controller.Memory.
func (m remembered) Load(ctx context.Context) (plan.PlannerState, error) {
	st, err := m.Store.Load(ctx)
	if err != nil {
		return st, err
	}
	st.Pause, err = m.pauses.Read(ctx)
	return st, err
}

// onceWarned runs f once and logs what went wrong.
func onceWarned(log *slog.Logger, what string, f func() error) func() {
	return sync.OnceFunc(func() {
		if err := f(); err != nil {
			log.Warn(what, "error", err)
		}
	})
}
