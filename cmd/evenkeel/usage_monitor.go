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
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/monitor"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// usageMonitor asks the source of usage that the newest configuration names, also where
// another process leads: who takes over has windows of its own. It is safe for
// concurrent use.
type usageMonitor struct {
	observer *observe.Observer
	rest     *rest.Config
	log      *slog.Logger
	record   func() monitor.Recorder

	mu      sync.Mutex
	conf    *config.Config
	source  usage.Source
	monitor *monitor.Monitor // nil: no source is asked
	changed chan struct{}    // closed when there is another monitor
	// sampled gets a value whenever usage may have changed.
	sampled chan struct{}
}

// newUsageMonitor refuses a source that cannot be asked. From now on snapshots hold what
// it measures.
func newUsageMonitor(conf *config.Config, o *observe.Observer, rc *rest.Config, log *slog.Logger, record func() monitor.Recorder) (*usageMonitor, error) {
	m := &usageMonitor{observer: o, rest: rc, log: log, record: record, changed: make(chan struct{}), sampled: make(chan struct{}, 1)}
	if err := m.reconfigure(conf); err != nil {
		return nil, err
	}
	o.SetUsageSource(m.usage)
	return m, nil
}

// setConfig takes a new configuration over. A source that cannot be asked leaves usage
// unknown.
func (m *usageMonitor) setConfig(conf *config.Config) {
	if err := m.reconfigure(conf); err != nil {
		m.log.Error("the source of usage cannot be asked; usage is unknown", "error", err)
	}
}

// reconfigure keeps the windows as long as the source and they stay the same.
func (m *usageMonitor) reconfigure(conf *config.Config) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.conf
	m.conf = conf
	o := conf.UsageWindowOptions()
	if before != nil && reflect.DeepEqual(before.Load, conf.Load) && maps.Equal(before.HintRuleQueries(), conf.HintRuleQueries()) && o.KeepNodeSamples == before.UsageWindowOptions().KeepNodeSamples {
		if m.monitor != nil {
			m.monitor.SetWatches(o.Watches)
		}
		return nil
	}
	close(m.changed)
	m.changed = make(chan struct{})
	if m.source, m.monitor = nil, nil; !conf.HasUsageSource() {
		return nil
	}
	for _, w := range config.TokenWarnings(conf) {
		m.log.Warn(w)
	}
	source, err := newUsageSource(conf, m.rest)
	if err != nil {
		source = failingSource{err}
	}
	m.source, m.monitor = source, monitor.New(o, source, m, clock.RealClock{}, m.log, m.record())
	return err
}

// failingSource is a source that cannot be asked.
type failingSource struct{ err error }

func (b failingSource) Sample(context.Context, []usage.Node) (usage.Sample, error) {
	return usage.Sample{}, b.err
}

func (m *usageMonitor) current() (*monitor.Monitor, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.monitor, m.changed
}

// usage is what is known now; nil where no source is asked.
func (m *usageMonitor) usage() *cluster.Usage {
	if now, _ := m.current(); now != nil {
		return now.Usage()
	}
	return nil
}

// nodeUsage is usage without pods, for hints.
func (m *usageMonitor) nodeUsage() *cluster.Usage {
	if now, _ := m.current(); now != nil {
		return now.NodeUsage()
	}
	return nil
}

// sampleOnce takes one sample, with what the source remembers.
func (m *usageMonitor) sampleOnce(ctx context.Context) {
	if now, _ := m.current(); now != nil {
		now.SampleOnce(ctx)
	}
}

// runWith samples while work runs.
func (m *usageMonitor) runWith(ctx context.Context, work func(context.Context) error) error {
	sampling, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { m.run(sampling) })
	defer func() { end(); wg.Wait() }()
	return work(ctx)
}

func (m *usageMonitor) run(ctx context.Context) {
	for ctx.Err() == nil {
		now, changed := m.current()
		sampling, end := context.WithCancel(ctx)
		var wg sync.WaitGroup
		var sampled <-chan struct{}
		if now != nil {
			sampled = now.Sampled()
			wg.Go(func() { now.Run(sampling) })
		}
		m.forwardSamples(ctx, sampled, changed)
		end()
		wg.Wait()
	}
}

// forwardSamples passes on that there is a sample, until there is another monitor.
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
			default: // the one before is still to be looked at
			}
		}
	}
}

// checkSampleCounts refuses a configuration for one pass that wants several samples in a row
// of a source that remembers none: such a pass would never act.
func (m *usageMonitor) checkSampleCounts() error {
	if m.canCountSamples() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	refuse := func(name string, samples int, resource string) {
		if samples > 1 {
			errs = append(errs, fmt.Errorf("%s wants %d samples of %s in a row (for), and one pass takes one: a %s remembers nothing (want load.source: prometheus, for: 1, or run without --once)", name, samples, resource, m.conf.Load.Source))
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

// canCountSamples says whether one look can count samples in a row: with what the source
// remembers.
func (m *usageMonitor) canCountSamples() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, remembers := m.source.(usage.HistorySource)
	return remembers || m.source == nil
}

// sampleCountWarnings says of each strategy that wants several samples in a row that one look
// never has them, where the source remembers none.
func (m *usageMonitor) sampleCountWarnings(conf *config.Config) []string {
	if m.canCountSamples() {
		return nil
	}
	var out []string
	for _, w := range conf.StrategyWatches() { // by strategy, one for each of its resources
		out = append(out, fmt.Sprintf("this command takes one sample, and strategy %s wants %d in a row (for): it never moves anything here (want `evenkeel run`, load.source: prometheus, or for: 1)", w.Name, w.For))
	}
	return slices.Compact(out)
}

// UsageNodes implements monitor.Cluster: all nodes, whether they are in scope or not.
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
			OutOfScope: !at.Ready || !scope.HasNode(&at) || len(annotation.OfNode(&at).Exclude) > 0,
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

// Served implements web.Loads.
func (m *usageMonitor) Enabled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.monitor != nil && m.conf.Web.Watcher
}

// Source implements web.Loads.
func (m *usageMonitor) Source() string {
	if now, _ := m.current(); now != nil {
		return now.SourceName()
	}
	return ""
}

// Loads implements web.Loads.
func (m *usageMonitor) Loads() ([]window.NodeLoads, time.Duration, time.Time) {
	if now, _ := m.current(); now != nil {
		return now.Loads()
	}
	return nil, 0, time.Time{}
}
