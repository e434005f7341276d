package config

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/usage/promql"
)

// Warnings describe settings that are valid but probably mistakes, or less safe than the defaults. Windows and
// schedules are checked for one year from now.
func (c *Config) Warnings(now time.Time) []string {
	return slices.Concat(limitWarnings(c), strategyRuleWarnings(c), windowLimitWarnings(c), windowWarnings(c, now), protectWarnings(c), TokenWarnings(c), hintWarnings(c),
		unusedSourceWarnings(c), podUsageWarnings(c), secretWarnings(c))
}

// limitWarnings report limits that permit no eviction. Users may set such limits to stop evictions quickly.
func limitWarnings(c *Config) []string {
	var out []string
	for _, l := range c.limits(nil) {
		if l.global.For(1) < 1 {
			out = append(out, fmt.Sprintf("limits.%s: %s: Evenkeel would plan nothing and evict nothing; to plan without evicting, set dryRun: true",
				l.key, l.global))
		}
	}
	for _, s := range c.Strategies {
		for _, l := range c.limits(s.Limits) {
			if l.own != nil && l.own.For(1) < 1 {
				out = append(out, fmt.Sprintf("%s.limits.%s: %s: no pod would move for this strategy", s.path(), l.key, l.own))
			}
		}
	}
	return out
}

func windowWarnings(c *Config, now time.Time) []string {
	w := c.windows
	if !cron.EverOpen(now, w) {
		what := "no allow window is open outside the deny windows"
		switch {
		case len(w.Deny) == 0:
			what = "no allow window opens"
		case len(w.Allow) == 0:
			what = "the deny windows leave no time"
		}
		return []string{"windows: " + what + " within a year: Evenkeel would evict nothing"}
	}
	var out []string
	for _, s := range c.scheduled {
		if !s.Firings.IsZero() && !cron.EverFiresWhileOpen(now, s.Firings, w) {
			out = append(out, fmt.Sprintf("strategies.%s.schedule: %q: within a year, the strategy is never due while windows allow evictions: it would evict nothing",
				s.Name, s.Firings))
		}
	}
	return out
}

// TokenWarnings report tokens and passwords that Evenkeel sends over an unencrypted connection.
func TokenWarnings(c *Config) []string {
	var out []string
	p, w := c.Load.Prometheus, c.Load.LoadWatcher
	for _, x := range []struct{ source, key, file, address string }{
		{SourcePrometheus, "tokenFile", p.TokenFile, p.URL}, {SourcePrometheus, "basicAuth.passwordFile", p.BasicAuth.PasswordFile, p.URL},
		{SourcePrometheus, "oauth2", p.OAuth2.ClientSecretFile, p.URL},
		{SourcePrometheus, "oauth2.tokenURL", p.OAuth2.ClientSecretFile, p.OAuth2.TokenURL},
		{SourceLoadWatcher, "tokenFile", w.TokenFile, w.URL},
	} {
		u, err := url.Parse(x.address)
		if c.reads(x.source) && err == nil && x.file != "" && u.Scheme == "http" && !isLoopback(u.Hostname()) {
			what := "the token"
			if x.key == "basicAuth.passwordFile" {
				what = "the password"
			} else if x.key == "oauth2.tokenURL" {
				what = "the client secret"
			}
			out = append(out, "load."+x.source+"."+x.key+": Evenkeel sends "+what+" to an http:// address, unencrypted; "+
				"use https:// (with caFile for a private certificate authority)")
		}
	}
	return append(out, notifyWarnings(c)...)
}

// reads reports whether Evenkeel reads usage or alerts from the source.
func (c *Config) reads(source string) bool {
	return c.Load.Source == source || source == SourcePrometheus && len(c.Evictor.Breaker.PrometheusAlerts) > 0
}

// isLoopback reports whether requests to host stay on this machine.
func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// protectWarnings report default protections that the configuration lacks.
func protectWarnings(c *Config) []string {
	var missing []string
	for _, p := range Default().Guards.Protect {
		if !slices.Contains(c.Guards.Protect, p) {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{"guards.protect: lacks " + strings.Join(missing, ", ") + " of the default: Evenkeel may evict such pods"}
}

// hintWarnings report rules that have no effect or look inverted, and queries that return no value for some nodes.
// The state of such a node is unknown, so its hint stays until the hint expires.
func hintWarnings(c *Config) []string {
	if n := len(c.pressureRules); n > 0 && !c.Hints.Enabled {
		return []string{fmt.Sprintf("hints.enabled: is false: %s no effect (want hints.enabled: true)",
			plural.Choose(n, "the rule has", fmt.Sprintf("the %d rules have", n)))}
	}
	var out []string
	for _, r := range c.Hints.Rules {
		switch {
		case r.Resource == cluster.MemoryAvailable && r.Above != nil:
			out = append(out, fmt.Sprintf("hints: rule %s: memory.available is free memory, so `above` makes pods avoid nodes with much free memory (did you mean below?)", r.Name))
		case (r.Resource == "cpu" || r.Resource == "memory") && r.Below != nil:
			out = append(out, fmt.Sprintf("hints: rule %s: `below` makes pods avoid nodes that use little %s (did you mean above?)", r.Name,
				r.Resource))
		}
	}
	for _, r := range c.HintRules() {
		if q, err := promql.Parse(r.Query); r.Query != "" && err == nil {
			if by := q.FilteringComparison(); by != "" {
				out = append(out, fmt.Sprintf("hints: rule %s: the query returns a value only if %s; the state of the other nodes is unknown, so their hints stay until they expire; remove the comparison, or use bool",
					r.Name, by))
			}
		}
	}
	return out
}

// unusedSourceWarnings report a usage source that the configuration does not use.
func unusedSourceWarnings(c *Config) []string {
	if !c.HasUsageSource() || c.Load.Serve || len(c.pressureRules) > 0 {
		return nil
	}
	if slices.ContainsFunc(c.scheduled, func(s schedule.Strategy) bool { return s.Strategy.Usage.Required }) {
		return nil
	}
	return []string{fmt.Sprintf("load.source: the usage from %s is not used: no NodeLoad strategy has basis: load, hints.rules is empty, and load.serve is false", c.Load.Source)}
}

// podUsageWarnings report levels of NodeLoad for resources that the source measures of nodes but not of pods. The
// planner then does not know which pods help by leaving, so no pod leaves.
func podUsageWarnings(c *Config) (out []string) {
	if c.Load.Source != SourcePrometheus {
		return nil
	}
	o := c.PrometheusOptions()
	known := o.MeasuredPodResources()
	for _, s := range c.Strategies {
		at := slices.IndexFunc(c.scheduled, func(x schedule.Strategy) bool { return x.Name == s.Name })
		if at < 0 {
			continue
		}
		needs := c.scheduled[at].Strategy.Usage
		for _, r := range needs.Resources {
			level := needs.Paths[r]
			if strings.HasPrefix(level, "when.") || slices.Contains(known, r) || !o.QueriesPods() && (r == "cpu" || r == "memory") {
				continue
			}
			out = append(out, fmt.Sprintf("%s.args.%s: Prometheus measures %s of nodes but not of pods, so no pod leaves a node for it "+
				"(want load.prometheus.podQueries.%s, or when: {%s: ...} beside a level for cpu or memory)", s.path(), level, r, r, r))
		}
	}
	return out
}

const usageSource = "the source" // the user of files of the source of usage

// recordSecretFiles sets c.secretFiles to the files of the servers that Evenkeel reads.
func recordSecretFiles(c *Config, d *strict.Decoder) {
	c.secretFiles = nil
	p, w := c.Load.Prometheus, c.Load.LoadWatcher
	for _, x := range []struct{ source, field, path string }{
		{SourcePrometheus, "tokenFile", p.TokenFile}, {SourcePrometheus, "caFile", p.CAFile},
		{SourcePrometheus, "basicAuth.passwordFile", p.BasicAuth.PasswordFile}, {SourcePrometheus, "oauth2.clientSecretFile", p.OAuth2.ClientSecretFile},
		{SourcePrometheus, "certFile", p.CertFile}, {SourcePrometheus, "keyFile", p.KeyFile},
		{SourceLoadWatcher, "tokenFile", w.TokenFile}, {SourceLoadWatcher, "caFile", w.CAFile},
	} {
		if field := "load." + x.source + "." + x.field; x.path != "" && c.reads(x.source) {
			c.secretFiles = append(c.secretFiles, secretFile{usageSource, fmt.Sprintf("%s:%d: %s", d.File(), d.Line(field), field), x.path})
		}
	}
}

// UsageFiles returns the keys and the paths of the files that the source of usage and of alerts needs. It does not look
// for the files.
func (c *Config) UsageFiles() []string {
	var out []string
	for _, s := range c.secretFiles {
		if s.user == usageSource {
			_, key, _ := strings.Cut(s.position, ": ")
			out = append(out, key+" "+s.path)
		}
	}
	return out
}

// secretWarnings report credential files that are unreadable on this machine. They are no errors, because users often
// check a configuration on a machine without its secrets.
func secretWarnings(c *Config) []string {
	var out []string
	for _, s := range c.secretFiles {
		f, err := os.Open(s.path)
		if err != nil {
			out = append(out, fmt.Sprintf("%s: cannot be read here: %v; %s needs this file where Evenkeel runs", s.position, err, s.user))
			continue
		}
		f.Close()
	}
	return out
}
