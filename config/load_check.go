package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// Sources of usage. With SourceRequests nothing is asked.
const (
	SourceRequests      = "requests"
	SourceMetricsServer = "metricsServer"
	SourcePrometheus    = "prometheus"
	SourceLoadWatcher   = "loadWatcher"
)

var loadSources = []string{SourceRequests, SourceMetricsServer, SourcePrometheus, SourceLoadWatcher}

// The shortest times that make sense. Nobody measures more often than every few
// seconds, and asking a large cluster costs a CPU most of a second.
const (
	minInterval = 5 * time.Second
	minTimeout  = 100 * time.Millisecond
	maxWindow   = time.Hour
)

func (c *Config) checkLoad(e *decoder) {
	l := c.Load
	oneOf := func(path, got, what string, want []string) {
		if !slices.Contains(want, got) {
			e.fieldError(path, "unknown %s %q%s (want one of %s)", what, got, suggest.DidYouMean(got, want), strings.Join(want, ", "))
		}
	}
	oneOf("load.source", l.Source, "source", loadSources)
	oneOf("load.statistic", l.Statistic, "statistic", toStrings(window.Statistics()))
	if l.Interval < Duration(minInterval) {
		e.fieldError("load.interval", "%s is too short for anything to be measured anew (want %s or more)", l.Interval, Duration(minInterval))
	}
	if l.Window < l.Interval || l.Window > Duration(maxWindow) {
		e.fieldError("load.window", "%s holds no samples that are worth it (want from load.interval, %s, to %s)", l.Window, l.Interval, Duration(maxWindow))
	}
	if l.MaxAge < l.Interval {
		e.fieldError("load.maxAge", "%s is less than load.interval: what is known would be stale before anything newer is (want %s or more)", l.MaxAge, l.Interval)
	}
	checkFraction(e, "load.minCoverage", l.MinCoverage)
	for path, d := range map[string]Duration{
		"load.metricsServer.timeout": l.MetricsServer.Timeout, "load.prometheus.timeout": l.Prometheus.Timeout, "load.loadWatcher.timeout": l.LoadWatcher.Timeout,
	} {
		if d < Duration(minTimeout) {
			e.fieldError(path, "%s is too short for an answer (want %s or more)", d, Duration(minTimeout))
		}
	}
	c.checkPrometheus(e)
	c.recordSecretFiles(e)
	checkAddress(e, "load.loadWatcher.url", l.LoadWatcher.URL, l.Source == SourceLoadWatcher, "http://load-watcher.monitoring:2020")
}

func (c *Config) checkPrometheus(e *decoder) {
	p := c.Load.Prometheus
	checkAddress(e, "load.prometheus.url", p.URL, c.Load.Source == SourcePrometheus, "http://prometheus.monitoring:9090")
	presets := toStrings(prometheus.Presets())
	if !slices.Contains(presets, p.Preset) {
		e.fieldError("load.prometheus.preset", "unknown preset %q%s (want one of %s)", p.Preset, suggest.DidYouMean(p.Preset, presets), strings.Join(presets, ", "))
	} else if p.Preset == string(prometheus.None) && len(p.Queries) == 0 && c.Load.Source == SourcePrometheus && !c.Hints.hasQueries() {
		e.fieldError("load.prometheus.preset", "none needs queries of your own (want load.prometheus.queries: {cpu: ...})")
	}
	unasked := c.Load.Source != SourcePrometheus && p.RateWindow == defaultLoad().Prometheus.RateWindow // nobody wrote it, and nobody uses it
	if !unasked && (p.RateWindow < Duration(10*time.Second) || p.RateWindow > c.Load.MaxAge) {
		e.fieldError("load.prometheus.rateWindow", "%s makes no rates of now (want from 10s to load.maxAge, %s)", p.RateWindow, c.Load.MaxAge)
	}
	if (p.CertFile == "") != (p.KeyFile == "") {
		e.fieldError("load.prometheus", "certFile and keyFile go together (want both or neither)")
	}
	o := c.PrometheusOptions()
	o.Rules = map[string]string{}
	at := map[string]string{} // where the rules stand
	for i, r := range c.Hints.Rules {
		if r.PromQL != "" {
			o.Rules[r.Name], at["rules."+r.Name] = r.PromQL, fmt.Sprintf("hints.rules[%d].promql", i)
		}
	}
	for _, m := range o.Check() {
		if rule, ok := at[m.Path]; ok {
			e.fieldError(rule, "%s", m.Message)
			continue
		}
		e.fieldError("load.prometheus."+m.Path, "%s", m.Message)
	}
}

// toStrings are names as somebody writes them.
func toStrings[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}

// PrometheusOptions is what is asked of one, but for the client that asks it.
func (c *Config) PrometheusOptions() prometheus.Options {
	p := c.Load.Prometheus
	return prometheus.Options{
		URL: p.URL, Preset: prometheus.Preset(p.Preset), RateWindow: time.Duration(p.RateWindow), Queries: p.Queries, PodQueries: p.PodQueries, Freshness: p.Freshness, Rules: c.HintRuleQueries(),
		NodeLabel: p.NodeLabel, Timeout: time.Duration(p.Timeout), MaxAge: time.Duration(c.Load.MaxAge),
	}
}

// checkAddress checks where a server is. It is not shown: somebody may have put a
// password into it.
func checkAddress(e *decoder, path, text string, needed bool, example string) {
	if text == "" {
		if needed {
			e.fieldError(path, "is missing (want an address, such as %s)", example)
		}
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		e.fieldError(path, "is not the address of a server (want one such as %s)", example)
	case u.User != nil:
		e.fieldError(path, "holds a user or a password, which anybody may read here (put a token into a file, and name that in tokenFile)")
	case u.RawQuery != "" || u.Fragment != "":
		e.fieldError(path, "has more than an address and a path (want one such as %s)", example)
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api/v1/query"):
		e.fieldError(path, "ends in /api/v1/query, which is added to it (want what stands before that, such as %s)", example)
	}
}
