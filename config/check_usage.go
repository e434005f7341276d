package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

var loadSources = []string{SourceRequests, SourceMetricsServer, SourcePrometheus, SourceLoadWatcher}

// Limits on durations. One sample of a large cluster costs nearly a second of CPU time.
const (
	minInterval = 5 * time.Second
	minTimeout  = 100 * time.Millisecond
	maxWindow   = time.Hour
)

func checkLoad(c *Config, d *strict.Decoder) {
	l := c.Load
	d.CheckOneOf("load.source", "source", l.Source, loadSources)
	d.CheckOneOf("load.statistic", "statistic", l.Statistic, toStrings(window.Statistics()))
	if l.Interval < Duration(minInterval) {
		d.Errorf("load.interval", "%s is too short: the source has no new measurement yet (want %s or more)", l.Interval, Duration(minInterval))
	}
	if l.Window < l.Interval || l.Window > Duration(maxWindow) {
		d.Errorf("load.window", "%s is not a useful window (want at least load.interval, %s, and at most %s)", l.Window, l.Interval,
			Duration(maxWindow))
	}
	if l.MaxAge < l.Interval {
		d.Errorf("load.maxAge", "%s is less than load.interval: usage would be stale before the next sample (want %s or more)", l.MaxAge,
			l.Interval)
	}
	checkFraction(d, "load.minCoverage", l.MinCoverage)
	if l.Timeout < Duration(minTimeout) {
		d.Errorf("load.timeout", "%s is too short for an answer (want %s or more)", l.Timeout, Duration(minTimeout))
	}
	if l.Serve && l.Source == SourceRequests {
		d.Errorf("load.serve", "needs a source of usage, but load.source is %s (want metricsServer, prometheus or loadWatcher)", SourceRequests)
	}
	checkPrometheus(c, d)
	recordSecretFiles(c, d)
	checkAddress(d, "load.loadWatcher.url", l.LoadWatcher.URL, l.Source == SourceLoadWatcher, "http://load-watcher.monitoring:2020")
}

func checkPrometheus(c *Config, d *strict.Decoder) {
	p := c.Load.Prometheus
	checkAddress(d, "load.prometheus.url", p.URL, c.Load.Source == SourcePrometheus, "http://prometheus.monitoring:9090")
	d.CheckOneOf("load.prometheus.preset", "preset", p.Preset, toStrings(prometheus.Presets()))
	if p.Preset == string(prometheus.None) && len(p.Queries) == 0 && c.Load.Source == SourcePrometheus && !c.Hints.hasQueries() {
		d.Errorf("load.prometheus.preset", "none requires your own queries (want load.prometheus.queries: {cpu: ...})")
	}
	unused := c.Load.Source != SourcePrometheus && p.RateWindow == defaultLoad().Prometheus.RateWindow
	if !unused && (p.RateWindow < Duration(10*time.Second) || p.RateWindow > c.Load.MaxAge) {
		d.Errorf("load.prometheus.rateWindow", "%s does not give current rates (want at least 10s, and at most load.maxAge, %s)", p.RateWindow,
			c.Load.MaxAge)
	}
	if (p.CertFile == "") != (p.KeyFile == "") {
		d.Errorf("load.prometheus", "certFile and keyFile belong together (want both, or none)")
	}
	checkPrometheusCredentials(&p, d)
	o := c.PrometheusOptions()
	o.Rules = map[string]string{}
	at := map[string]string{} // path of the key of each rule
	for i, r := range c.Hints.Rules {
		if r.PromQL != "" {
			o.Rules[r.Name], at["rules."+r.Name] = r.PromQL, fmt.Sprintf("hints.rules[%d].promql", i)
		}
	}
	for _, m := range o.Check() {
		if rule, ok := at[m.Path]; ok {
			d.Errorf(rule, "%s", m.Message)
			continue
		}
		d.Errorf("load.prometheus."+m.Path, "%s", m.Message)
	}
}

// checkAddress checks the URL of a server. Its errors do not contain the URL, because the URL may contain a password.
func checkAddress(d *strict.Decoder, path, text string, needed bool, example string) {
	if text == "" {
		if needed {
			d.Errorf(path, "is missing (want a URL, such as %s)", example)
		}
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		d.Errorf(path, "is not the URL of a server (want one such as %s)", example)
	case u.User != nil:
		d.Errorf(path, "contains a user or a password, which every reader of the configuration would see (put a token into a file, and set tokenFile)")
	case u.RawQuery != "" || u.Fragment != "":
		d.Errorf(path, "has more than an address and a path (want a URL such as %s)", example)
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api/v1/query"):
		d.Errorf(path, "ends in /api/v1/query, which Evenkeel appends itself (want the part before it, such as %s)", example)
	}
}

// hasQueries reports whether hints are enabled and at least one rule has a query.
func (h Hints) hasQueries() bool {
	return h.Enabled && (h.RulesFile != "" || slices.ContainsFunc(h.Rules, func(r HintRule) bool { return r.PromQL != "" }))
}

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
