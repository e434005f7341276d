package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// HasUsageSource reports whether Evenkeel measures usage.
func (c *Config) HasUsageSource() bool { return c.Load.Source != SourceRequests }

// measuredResources returns the node resources that the usage source measures, sorted and without memory.available.
func measuredResources(c *Config) []string {
	switch c.Load.Source {
	case SourceMetricsServer, SourceLoadWatcher:
		return []string{"cpu", "memory"}
	case SourcePrometheus:
		return slices.DeleteFunc(c.PrometheusOptions().MeasuredResources(), func(r string) bool { return r == cluster.MemoryAvailable })
	}
	return nil
}

// measuresAvailableMemory reports whether the usage source measures memory.available. Prometheus measures it with an
// explicit query, or with the memory query of the preset kubelet. The function returns true for an unknown source or
// preset, which other checks report.
func measuresAvailableMemory(c *Config) bool {
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

// availableMemoryRemedy says how to make the usage source measure memory.available.
func availableMemoryRemedy(c *Config) string {
	const query = "load.prometheus.queries: {memory.available: ...}"
	p := c.Load.Prometheus
	switch {
	case c.Load.Source != SourcePrometheus:
		return fmt.Sprintf("load.source: %s does not measure memory.available (want metricsServer; or prometheus with preset: kubelet or %s)",
			c.Load.Source, query)
	case p.Preset == string(prometheus.Kubelet):
		return fmt.Sprintf("load.source: prometheus with your own query for memory does not measure memory.available (want %s)", query)
	}
	return fmt.Sprintf("load.source: prometheus with preset: %s does not measure memory.available (want load.prometheus.preset: kubelet, or %s)", p.Preset, query)
}

// watcherWindow is the longest window that clients can request from a load-watcher.
const watcherWindow = 15 * time.Minute

// UsageWindowOptions configure which usage samples Evenkeel keeps, which statistic it computes, and which levels it
// watches.
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
		o.Watches = append(o.Watches, window.LevelWatch{
			Name: r.WatchName(), Resource: r.Resource, Enter: r.Enter, Leave: r.Leave, Below: r.Below, For: r.MinSamples,
		})
	}
	return o
}

// StrategyWatches returns the usage levels that strategies need compared with every sample.
func (c *Config) StrategyWatches() []window.LevelWatch {
	var out []window.LevelWatch
	for _, s := range c.scheduled {
		for _, w := range s.Strategy.UsageNeeds().Watches {
			out = append(out, toLevelWatch(w))
		}
	}
	return out
}

// HintRuleQueries returns the PromQL queries of hint rules, by rule name.
func (c *Config) HintRuleQueries() map[string]string {
	out := map[string]string{}
	for _, r := range c.HintRules() {
		if r.Query != "" {
			out[r.Name] = r.Query
		}
	}
	return out
}

// toLevelWatch converts a watch of a strategy. Unlike a hint, a strategy enters and leaves the hot state at the same
// level.
func toLevelWatch(w arg.Watch) window.LevelWatch {
	level, deviation := w.Target, false
	if level == 0 {
		level, deviation = w.Deviation, true
	}
	return window.LevelWatch{Name: w.Name, Resource: w.Resource, Enter: level, Leave: level, Deviation: deviation, For: w.For}
}

// PrometheusOptions returns the options of the Prometheus source, without the HTTP client.
func (c *Config) PrometheusOptions() prometheus.Options {
	p := c.Load.Prometheus
	return prometheus.Options{
		URL: p.URL, Preset: prometheus.Preset(p.Preset), RateWindow: time.Duration(p.RateWindow),
		Queries: p.Queries, PodQueries: p.PodQueries, Freshness: p.Freshness, Rules: c.HintRuleQueries(),
		NodeLabel: p.NodeLabel, Timeout: time.Duration(p.Timeout), MaxAge: time.Duration(c.Load.MaxAge),
	}
}
