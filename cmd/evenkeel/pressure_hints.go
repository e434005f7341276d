package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/hints/reconciler"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
)

// pressureHints are the pressure hints of a program that keeps running: whoever leads
// keeps them, and everybody tells which nodes carry one.
type pressureHints struct {
	keeper *reconciler.Reconciler
	// sampled has a value whenever usage may have changed; nil: never.
	sampled <-chan struct{}
	nodes   func() []*corev1.Node
	conf    atomic.Pointer[config.Config]
}

// newPressureHints keeps hints by usage, which is nil, or has no nodes, while nothing
// is known.
func newPressureHints(client kubernetes.Interface, o *observe.Observer, m *metrics.Metrics, log *slog.Logger, usage func() *cluster.Usage, sampled <-chan struct{}) *pressureHints {
	return &pressureHints{sampled: sampled, nodes: o.Nodes, keeper: &reconciler.Reconciler{
		Nodes: o.Nodes, Usage: usage, Writer: writer.New(client, clock.RealClock{}, nil), Clock: clock.RealClock{}, Log: log,
		OnCount: func(c reconciler.Counts) { m.RecordHints(metrics.HintCounts(c)) },
	}}
}

// setConfig is told of every configuration at once: what is told of nodes does not depend
// on passes.
func (p *pressureHints) setConfig(conf *config.Config) { p.conf.Store(conf) }

// configureReconciler is told of it between passes.
func (p *pressureHints) configureReconciler(conf *config.Config) {
	if p != nil {
		p.keeper.Configure(reconciler.Options{Options: conf.PressureOptions(), DryRun: conf.DryRun})
	}
}

// runOnceWith begins with hints and keeps them while work runs, for a program that ends with
// it. Where hints are off, only those go that have expired, and it is no fault where
// they cannot.
func (p *pressureHints) runOnceWith(ctx context.Context, c *controller.Controller, conf *config.Config, work func(context.Context, *controller.Controller) error) error {
	unwritten := p.keeper.ReconcileFirst(ctx)
	if !conf.Hints.Enabled {
		unwritten = nil
	}
	return errors.Join(p.runWith(ctx, c, work), unwritten)
}

// warnAboutShortTTL warns where the hints that are written now expire before the next pass that
// this configuration has due renews them or takes them away. A dry run writes none.
func warnAboutShortTTL(conf *config.Config, now time.Time, log *slog.Logger) {
	var next time.Time
	for _, s := range conf.BuildStrategies() {
		if at := s.Schedule.Next(now); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	ttl := time.Duration(conf.Hints.TTL)
	if rest := next.Sub(now); conf.WritesHints() && !next.IsZero() && rest > ttl/2 {
		log.Warn("pressure hints may expire before they are renewed, and then stand until a later pass: set hints.ttl to at least twice the time between passes, or run without --once",
			"ttl", ttl, "next", next.UTC(), "in", rest.Round(time.Second))
	}
}

// runWith keeps hints while work runs.
func (p *pressureHints) runWith(ctx context.Context, c *controller.Controller, work func(context.Context, *controller.Controller) error) error {
	keeping, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { p.keeper.Run(keeping, p.sampled) })
	defer func() { end(); wg.Wait() }()
	return work(ctx, c)
}

// HintedNodes implements web.HintedNodes. A node with the label carries the hint, whoever wrote
// it: that is what pods avoid.
func (p *pressureHints) HintedNodes() (nodes []string, value string, on bool) {
	conf := p.conf.Load()
	if conf == nil || !conf.Hints.Enabled {
		return nil, "", false
	}
	label := conf.Hints.Label
	for _, n := range p.nodes() {
		_, ours := pressure.Of(n)
		if there, labelled := n.Labels[label.Key]; ours || labelled && there == label.Value {
			nodes = append(nodes, n.Name)
		}
	}
	return nodes, label.Value, true
}
