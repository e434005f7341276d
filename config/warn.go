package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Warnings are what a checked configuration says that makes little sense, or less
// safe than what is shipped, as seen from now.
func (c *Config) Warnings(now time.Time) []string {
	return slices.Concat(c.limitWarnings(), c.windowWarnings(now), c.protectWarnings(), c.TokenWarnings(), c.hintWarnings(), c.unusedSourceWarnings(), c.secretWarnings())
}

// limitWarnings tell of limits that let nothing through. They are no mistakes: who
// stops evictions in a hurry may well set one.
func (c *Config) limitWarnings() []string {
	var out []string
	l := c.Limits
	for _, x := range []struct {
		key   string
		count plan.CountLimit
	}{{"perPass", l.PerPass}, {"perNode", l.PerNode}, {"perNamespace", l.PerNamespace}, {"perOwner", l.PerOwner}, {"perZone", l.PerZone}} {
		if x.count.For(1) < 1 {
			out = append(out, fmt.Sprintf("limits.%s: %s: nothing would be evicted, and nothing planned; to plan without evicting set dryRun: true", x.key, x.count))
		}
	}
	return out
}

func (c *Config) windowWarnings(now time.Time) []string {
	w := c.windows()
	if !cron.EverOpen(now, w) {
		what := "no allow window is ever open outside of the deny windows"
		switch {
		case len(w.Deny) == 0:
			what = "no allow window opens"
		case len(w.Allow) == 0:
			what = "the deny windows leave no time"
		}
		return []string{"windows: " + what + " within a year: nothing would be evicted"}
	}
	var out []string
	for i, s := range c.BuildStrategies() {
		if !cron.EverFiresWhileOpen(now, s.Schedule, w) {
			out = append(out, fmt.Sprintf("strategies[%d].schedule: %q, of %s, is never due within a year while windows allow evictions: it would never evict", i, s.Schedule, s.Name))
		}
	}
	return out
}

// TokenWarnings tell of a token that is sent where everybody on the way can read it.
func (c *Config) TokenWarnings() []string {
	where, file, address := "load.prometheus", c.Load.Prometheus.TokenFile, c.Load.Prometheus.URL
	switch c.Load.Source {
	case SourcePrometheus:
	case SourceLoadWatcher:
		where, file, address = "load.loadWatcher", c.Load.LoadWatcher.TokenFile, c.Load.LoadWatcher.URL
	default:
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || file == "" || u.Scheme != "http" || isLoopback(u.Hostname()) {
		return nil
	}
	return []string{where + ".tokenFile: the token is sent to an http:// address, and whoever is on the way can read it; use https:// (with caFile where the authority is your own)"}
}

// isLoopback: what is sent there does not leave this machine.
func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// protectWarnings tell of pods that the default keeps and this configuration does not.
func (c *Config) protectWarnings() []string {
	var gone []string
	for _, p := range Default().Guards.Protect {
		if !slices.Contains(c.Guards.Protect, p) {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return []string{"guards.protect: leaves out " + strings.Join(gone, ", ") + ", which the default protects: such pods may be evicted"}
}
