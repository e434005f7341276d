package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/strategies/nodeload"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// Web is what is served beside health and metrics.
type Web struct {
	// Watcher serves what nodes use as a load-watcher does.
	Watcher bool `json:"watcher"`
}

func (c *Config) checkWeb(e *decoder) {
	if c.Web.Watcher && c.Load.Source == SourceRequests {
		e.fieldError("web.watcher", "serves what a source of usage measures, and load.source is %s (want metricsServer, prometheus or loadWatcher there)", SourceRequests)
	}
}

// HasUsageSource says whether a source of usage is asked.
func (c *Config) HasUsageSource() bool { return c.Load.Source != SourceRequests }

// measuredResources are the resources of nodes of which the source tells the use, sorted, as
// strategies count it.
func (c *Config) measuredResources() []string {
	switch c.Load.Source {
	case SourceMetricsServer, SourceLoadWatcher:
		return []string{"cpu", "memory"}
	case SourcePrometheus:
		return slices.DeleteFunc(c.PrometheusOptions().MeasuredResources(), func(r string) bool { return r == cluster.MemoryAvailable })
	}
	return nil
}

// measuresAvailableMemory says whether the source tells memory.available. Prometheus does by a
// query, or as what the preset kubelet leaves of the capacity, which needs that preset's
// own query of memory. Of an unknown source or preset it is not the question.
func (c *Config) measuresAvailableMemory() bool {
	p := c.Load.Prometheus
	switch c.Load.Source {
	case SourceLoadWatcher:
		return false
	case SourcePrometheus:
		_, own := p.Queries[cluster.MemoryAvailable]
		_, replaced := p.Queries["memory"]
		known := slices.Contains(prometheus.Presets(), prometheus.Preset(p.Preset))
		return own || !known || p.Preset == string(prometheus.Kubelet) && !replaced
	}
	return true
}

// availableMemoryRemedy says what to do where tellsAvailable is false.
func (c *Config) availableMemoryRemedy() string {
	const query = "load.prometheus.queries: {memory.available: ...}"
	p := c.Load.Prometheus
	switch {
	case c.Load.Source != SourcePrometheus:
		return fmt.Sprintf("load.source: %s does not tell it (want metricsServer; or prometheus with preset: kubelet or %s)", c.Load.Source, query)
	case p.Preset == string(prometheus.Kubelet):
		return fmt.Sprintf("load.source: prometheus with a query of your own for memory does not tell it (want %s)", query)
	}
	return fmt.Sprintf("load.source: prometheus with preset: %s does not tell it (want load.prometheus.preset: kubelet, or %s)", p.Preset, query)
}

// watcherWindow is the longest that is served to clients of a load-watcher.
const watcherWindow = 15 * time.Minute

// UsageWindowOptions say what is kept of samples, what is made of them, and which levels are
// watched.
func (c *Config) UsageWindowOptions() window.Options {
	o := window.Options{
		Source: c.Load.Source, Statistic: window.Statistic(c.Load.Statistic), Window: time.Duration(c.Load.Window),
		MaxAge: time.Duration(c.Load.MaxAge), Interval: time.Duration(c.Load.Interval),
	}
	o.NodesOnly = c.Load.Source == SourceLoadWatcher || c.Load.Source == SourcePrometheus && !c.PrometheusOptions().QueriesPods()
	if c.Load.Source == SourcePrometheus {
		o.RateWindow = time.Duration(c.Load.Prometheus.RateWindow)
	}
	if c.Web.Watcher {
		o.KeepNodeSamples = watcherWindow
	}
	o.Watches = c.StrategyWatches()
	for _, r := range c.HintRules() {
		o.Watches = append(o.Watches, window.LevelWatch{Name: r.WatchName(), Resource: r.Resource, Enter: r.Enter, Leave: r.Leave, Below: r.Below, For: r.MinSamples})
	}
	return o
}

// StrategyWatches are the levels that strategies want watched, for they count samples.
func (c *Config) StrategyWatches() []window.LevelWatch {
	var out []window.LevelWatch
	for _, s := range c.BuildStrategies() {
		if l, ok := s.Strategy.(*nodeload.Strategy); ok {
			for _, w := range l.Watches() {
				out = append(out, usageWatch(w))
			}
		}
	}
	return out
}

// HintRuleQueries are the queries of rules of hints, by the name of the rule.
func (c *Config) HintRuleQueries() map[string]string {
	out := map[string]string{}
	for _, r := range c.HintRules() {
		if r.Query != "" {
			out[r.Name] = r.Query
		}
	}
	return out
}

// usageWatch: what is measured moves a node out as it moved it in.
func usageWatch(w nodeload.Watch) window.LevelWatch {
	level, deviation := w.Target, false
	if level == 0 {
		level, deviation = w.Deviation, true
	}
	return window.LevelWatch{Name: w.Name, Resource: w.Resource, Enter: level, Leave: level, Deviation: deviation, For: w.For}
}
