package main

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/planner/trust"
)

// bindingFilter says whose bindings are looked at, by the newest configuration: those of
// schedulers without a profile, none when it trusts no such scheduler. It is safe
// for concurrent use, and says no before it was told.
type bindingFilter struct {
	profiles atomic.Pointer[map[string]placement.Profile] // nil: no bindings at all
}

func (w *bindingFilter) setConfig(conf *config.Config) {
	opts := conf.PlannerOptions()
	if opts.Trust.MinBindings == 0 {
		w.profiles.Store(nil)
		return
	}
	w.profiles.Store(&opts.Placement.Profiles)
}

func (w *bindingFilter) matches(p *corev1.Pod) bool {
	profiles := w.profiles.Load()
	return profiles != nil && trust.Unknown(trust.SchedulerName(p), *profiles)
}

// newSchedulerTrust watches the bindings that are wanted. The observer must not have been
// started.
func newSchedulerTrust(w *bindingFilter, o *observe.Observer, m *metrics.Metrics, log *slog.Logger) *controller.SchedulerTrust {
	return &controller.SchedulerTrust{Observer: o, Bindings: o.WatchBindings(w.matches), Clock: clock.RealClock{}, Log: log, OnCount: m.RecordBinding}
}

// runWithTrust runs the shadow while work runs, also while another process holds the
// Lease: who takes over has counts of its own.
func runWithTrust(ctx context.Context, s *controller.SchedulerTrust, work func(context.Context) error) error {
	if s == nil {
		return work(ctx)
	}
	shadowing, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.Run(shadowing) })
	defer func() { end(); wg.Wait() }()
	return work(ctx)
}
