package main

import (
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
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
	events   evictor.Events
	// record begins to write events.
	record func()
	// before evicted last: the pace goes on where it stopped.
	before *evictor.Live
}

// apply sets everything in c that depends on the configuration.
func (s *settings) apply(c *controller.Controller, conf *config.Config) {
	s.observer.MaxStaleness = time.Duration(conf.Guards.MaxStaleness)
	c.Planner, c.Strategies = planner.New(conf.Planner()), conf.Build()
	if conf.DryRun {
		c.Mode, c.Evictor, c.AtOnce, c.Hinter = plan.DryRun, evictor.NewDryRun(), 0, nil
		return
	}
	s.record()
	live := evictor.NewLive(s.client, s.observer, s.observer.WorkloadOf, evictor.Options{
		GracePeriodSeconds: conf.Evictor.GracePeriodSeconds, PerMinute: conf.PerMinute(),
		VerifyTimeout: time.Duration(conf.Evictor.VerifyTimeout), Clock: clock.RealClock{}, Log: s.log, Events: s.events,
	})
	if s.before != nil {
		live.Follow(s.before)
	}
	s.before = live
	c.Mode, c.Evictor, c.AtOnce = plan.Live, live, evictor.AtOnce(conf.PerMinute())
	c.Hinter, c.HintTTL = writer.New(s.client, clock.RealClock{}, s.observer.Node), time.Duration(conf.Evictor.SteerTTL)
}

// onceWarned runs f once and logs what went wrong.
func onceWarned(log *slog.Logger, what string, f func() error) func() {
	return sync.OnceFunc(func() {
		if err := f(); err != nil {
			log.Warn(what, "error", err)
		}
	})
}
