package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/placement/target"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// usageMonitor samples the usage source of the newest configuration. A process that does not lead also takes samples,
// and therefore has samples when it takes over. It is safe for concurrent use.
type usageMonitor struct {
	observer *observe.Observer
	rest     *rest.Config
	log      *slog.Logger
	metrics  *metrics.Metrics

	mu      sync.Mutex
	conf    *config.Config
	source  usage.Source
	monitor *monitor.Monitor // nil: there is no source
	changed chan struct{}    // closed when another monitor replaces this one
	// sampled receives a value when new usage data may be available.
	sampled chan struct{}
}

// newUsageMonitor creates the usage source, and adds its usage to the snapshots of the observer.
func newUsageMonitor(conf *config.Config, o *observe.Observer, rc *rest.Config, log *slog.Logger,
	counts *metrics.Metrics) (*usageMonitor, error) {
	m := &usageMonitor{observer: o, rest: rc, log: log, metrics: counts, changed: make(chan struct{}), sampled: make(chan struct{}, 1)}
	if err := m.reconfigure(conf); err != nil {
		return nil, err
	}
	o.SetUsageSource(m.usage)
	return m, nil
}

// setConfig applies a new configuration. If setConfig cannot create the new usage source, usage becomes unknown.
func (m *usageMonitor) setConfig(conf *config.Config) {
	if err := m.reconfigure(conf); err != nil {
		m.log.Error("the usage source cannot be created; usage is unknown", "error", err)
	}
}

// reconfigure applies a new configuration. It keeps the samples if the usage source and the windows stay the same.
func (m *usageMonitor) reconfigure(conf *config.Config) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.conf
	m.conf = conf
	o := conf.UsageWindowOptions()
	if before != nil && reflect.DeepEqual(before.Load, conf.Load) && maps.Equal(before.HintRuleQueries(), conf.HintRuleQueries()) &&
		o.KeepNodeSamples == before.UsageWindowOptions().KeepNodeSamples {
		if m.monitor != nil {
			m.monitor.SetWatches(o.Watches)
		}
		return nil
	}
	close(m.changed)
	m.changed = make(chan struct{})
	if m.source, m.monitor = nil, nil; !conf.HasUsageSource() {
		m.metrics.RemoveUsage()
		return nil
	}
	for _, w := range config.TokenWarnings(conf) {
		m.log.Warn(w)
	}
	source, err := newUsageSource(conf, m.rest)
	if err != nil {
		source = failingSource{err}
	}
	m.source, m.monitor = source, monitor.New(o, source, m, clock.RealClock{}, m.log, m.metrics.UsageRecorder(conf.Scope().Usage))
	return err
}

func (m *usageMonitor) currentMonitor() (*monitor.Monitor, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.monitor, m.changed
}

// usage returns the current usage, or nil without a usage source.
func (m *usageMonitor) usage() *cluster.Usage {
	if now, _ := m.currentMonitor(); now != nil {
		return now.Usage()
	}
	return nil
}

// nodeUsage returns the current usage of nodes without pods, or nil without a usage source.
func (m *usageMonitor) nodeUsage() *cluster.Usage {
	if now, _ := m.currentMonitor(); now != nil {
		return now.NodeUsage()
	}
	return nil
}

// sampleOnce takes one sample. It also reads the history of the usage source, if the source has one.
func (m *usageMonitor) sampleOnce(ctx context.Context) {
	if now, _ := m.currentMonitor(); now != nil {
		now.SampleOnce(ctx)
	}
}

// run takes samples until ctx ends.
func (m *usageMonitor) run(ctx context.Context) {
	for ctx.Err() == nil {
		now, changed := m.currentMonitor()
		if now == nil {
			m.forwardSamples(ctx, nil, changed)
			continue
		}
		_ = runBeside(ctx, now.Run, func(context.Context) error { m.forwardSamples(ctx, now.Sampled(), changed); return nil })
	}
}

// forwardSamples signals each sample on m.sampled until another monitor replaces this monitor.
func (m *usageMonitor) forwardSamples(ctx context.Context, sampled, changed <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			return
		case <-sampled:
			select {
			case m.sampled <- struct{}{}:
			default: // the last signal was not read yet
			}
		}
	}
}

// checkSampleCounts returns an error if a strategy or hint rule needs several consecutive samples, but the usage
// source has no history. A single pass could then never act.
func (m *usageMonitor) checkSampleCounts() error {
	if m.canCountSamples() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	refuse := func(name string, samples int, resource string) {
		if samples > 1 {
			errs = append(errs, fmt.Errorf("%s needs %d consecutive samples of %s (for), but one pass takes only one, and %s has no history (want load.source: prometheus, for: 1, or run without --once)", name, samples, resource, m.conf.Load.Source))
		}
	}
	for _, w := range m.conf.StrategyWatches() {
		refuse(w.Name, w.For, w.Resource)
	}
	for _, r := range m.conf.HintRules() {
		refuse("hints rule "+r.Name, r.MinSamples, r.Resource)
	}
	return errors.Join(errs...)
}

// canCountSamples reports whether the usage source has a history, or is missing.
func (m *usageMonitor) canCountSamples() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, remembers := m.source.(usage.HistorySource)
	return remembers || m.source == nil
}

// sampleCountWarnings returns a warning for each strategy that needs samples from a missing usage history.
func (m *usageMonitor) sampleCountWarnings(conf *config.Config) []string {
	if m.canCountSamples() {
		return nil
	}
	var out []string
	for _, w := range conf.StrategyWatches() { // one for each strategy and resource
		out = append(out, fmt.Sprintf("strategy %s needs %d consecutive samples (for), but this command takes only one, so the strategy moves no pod (want `evenkeel run`, load.source: prometheus, or for: 1)", w.Name, w.For))
	}
	return slices.Compact(out)
}

// UsageNodes implements monitor.Cluster. The result includes nodes out of scope.
func (m *usageMonitor) UsageNodes() []usage.Node {
	m.mu.Lock()
	scope := m.conf.Scope()
	m.mu.Unlock()
	var out []usage.Node
	for _, n := range m.observer.Nodes() {
		at := cluster.Node{Name: n.Name, Object: n, Ready: cluster.NodeReady(n)}
		x := usage.Node{
			Name: n.Name, UID: string(n.UID), Created: n.CreationTimestamp.Time, Hostname: n.Labels["kubernetes.io/hostname"],
			Capacity: cluster.ResourcesOf(n.Status.Capacity), Allocatable: cluster.ResourcesOf(n.Status.Allocatable),
			OutOfScope: !target.Open(scope, &at) || !scope.HasNode(&at) || len(annotation.OfNode(&at).Exclude) > 0, NotSelected: !scope.HasNode(&at),
		}
		for _, a := range n.Status.Addresses {
			if a.Type == "InternalIP" {
				x.InternalIPs = append(x.InternalIPs, a.Address)
			}
		}
		out = append(out, x)
	}
	return out
}

// PodPlace implements monitor.Cluster.
func (m *usageMonitor) PodPlace(pod string) (window.PodPlace, bool) { return m.observer.PodPlace(pod) }

// Enabled implements web.UsageSource.
func (m *usageMonitor) Enabled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.monitor != nil && m.conf.Load.Serve
}

// Source implements web.UsageSource.
func (m *usageMonitor) Source() string {
	if now, _ := m.currentMonitor(); now != nil {
		return now.SourceName()
	}
	return ""
}

// Loads implements web.UsageSource.
func (m *usageMonitor) Loads() ([]window.NodeLoads, time.Duration, time.Time) {
	if now, _ := m.currentMonitor(); now != nil {
		return now.Loads()
	}
	return nil, 0, time.Time{}
}
