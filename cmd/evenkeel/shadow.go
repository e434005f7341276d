package main

import (
	"context"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/planner/shadow"
)

// newShadow watches the bindings of schedulers without a profile; nil when the
// configuration trusts none of them. The observer must not have been started.
func newShadow(conf *config.Config, o *observe.Observer, m *metrics.Metrics, log *slog.Logger) *controller.Shadow {
	opts := conf.Planner()
	if opts.Shadow.MinBindings == 0 {
		return nil
	}
	want := func(p *corev1.Pod) bool {
		return shadow.Unknown(shadow.SchedulerName(p), opts.Placement.Profiles)
	}
	return &controller.Shadow{Observer: o, Bindings: o.Bindings(want), Clock: clock.RealClock{}, Log: log, Counted: m.Binding}
}

// beside runs the shadow while work runs, also while another process holds the
// Lease: who takes over has counts of its own.
func beside(ctx context.Context, s *controller.Shadow, work func(context.Context) error) error {
	if s == nil {
		return work(ctx)
	}
	shadowing, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.Run(shadowing) })
	defer func() { end(); wg.Wait() }()
	return work(ctx)
}
