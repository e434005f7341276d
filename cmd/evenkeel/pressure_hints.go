package main

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/hints/reconciler"
	"github.com/evenkeel-project/evenkeel/hints/writer"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
)

// pressureHints maintains pressure hints while the program runs. Only the leader writes hints, but every process can
// list the hinted nodes.
type pressureHints struct {
	reconciler *reconciler.Reconciler
	// sampled receives a value when new usage data may be available; a nil channel never does.
	sampled <-chan struct{}
	nodes   func() []*corev1.Node
	conf    atomic.Pointer[config.Config]
}

// newPressureHints returns a pressureHints that derives hints from the usage that the function usage returns. The
// function returns nil, or no nodes, while usage is unknown.
func newPressureHints(client kubernetes.Interface, o *observe.Observer, m *metrics.Metrics, log *slog.Logger, usage func() *cluster.Usage,
	sampled <-chan struct{}, onInvalidRecord func(*corev1.Node, string)) *pressureHints {
	return &pressureHints{sampled: sampled, nodes: o.Nodes, reconciler: &reconciler.Reconciler{
		Nodes: o.Nodes, Usage: usage, Writer: writer.New(client, clock.RealClock{}, nil), Clock: clock.RealClock{}, Log: log,
		OnCount: m.RecordHints, OnInvalidRecord: onInvalidRecord,
	}}
}

// setConfig applies a new configuration to HintedNodes immediately, also during a pass.
func (p *pressureHints) setConfig(conf *config.Config) { p.conf.Store(conf) }

// configureReconciler applies a new configuration to the reconciler, between two passes.
func (p *pressureHints) configureReconciler(conf *config.Config) {
	if p != nil {
		p.reconciler.Configure(reconciler.Options{Options: conf.PressureOptions(), DryRun: conf.DryRun})
	}
}

// reconcileOnce reconciles hints once. If hints are disabled, reconcileOnce removes expired hints and ignores errors.
func (p *pressureHints) reconcileOnce(ctx context.Context, conf *config.Config) error {
	if err := p.reconciler.ReconcileFirst(ctx); conf.Hints.Enabled {
		return err
	}
	return nil
}

// run maintains hints until ctx ends.
func (p *pressureHints) run(ctx context.Context) { p.reconciler.Run(ctx, p.sampled) }

// warnAboutShortTTL logs a warning if new hints would expire before the next scheduled pass can renew or remove them.
// A dry run writes no hints and causes no warning.
func warnAboutShortTTL(conf *config.Config, now time.Time, log *slog.Logger) {
	var next time.Time
	for _, s := range conf.BuildStrategies() {
		if at := s.Firings.Next(now); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	ttl := time.Duration(conf.Hints.TTL)
	if rest := next.Sub(now); conf.WritesHints() && !next.IsZero() && rest > ttl/2 {
		log.Warn("pressure hints may expire before they are renewed, and then stay until a later pass: set hints.ttl to at least twice the time between passes, or run without --once",
			"ttl", ttl, "next", next.UTC(), "in", rest.Round(time.Second))
	}
}

// HintedNodes implements web.HintSource. It also returns nodes whose label another program wrote: pods avoid them,
// too.
func (p *pressureHints) HintedNodes() (nodes []string, value string, on bool) {
	conf := p.conf.Load()
	if conf == nil || !conf.Hints.Enabled {
		return nil, "", false
	}
	key, value, _ := strings.Cut(conf.Hints.Label, "=")
	owned := conf.PressureOptions().Owned()
	for _, n := range p.nodes() {
		h, _ := owned.FromNode(n)
		if there, labelled := n.Labels[key]; h.OnNode(n).Description() != "" || labelled && there == value {
			nodes = append(nodes, n.Name)
		}
	}
	return nodes, value, true
}
