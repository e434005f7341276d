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

// Warnings describe settings that are valid but probably mistakes, or less safe than the defaults. Windows and
// schedules are checked for one year from now.
func (c *Config) Warnings(now time.Time) []string {
	return slices.Concat(limitWarnings(c), windowWarnings(c, now), protectWarnings(c), TokenWarnings(c), hintWarnings(c),
		unusedSourceWarnings(c), secretWarnings(c))
}

// limitWarnings report limits that permit no eviction. Such limits are no errors, because a user may set one to stop
// evictions quickly.
func limitWarnings(c *Config) []string {
	var out []string
	l := c.Limits
	for _, x := range []struct {
		key   string
		count plan.CountLimit
	}{{"perPass", l.PerPass}, {"perNode", l.PerNode}, {"perNamespace", l.PerNamespace}, {"perOwner", l.PerOwner}, {"perZone", l.PerZone}} {
		if x.count.For(1) < 1 {
			out = append(out, fmt.Sprintf("limits.%s: %s: Evenkeel would plan nothing and evict nothing; to plan without evicting, set dryRun: true", x.key,
				x.count))
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
	for i, s := range c.scheduled {
		if !cron.EverFiresWhileOpen(now, s.Schedule, w) {
			out = append(out, fmt.Sprintf("strategies[%d].schedule: %q: within a year, strategy %s is never due while windows allow evictions: it would evict nothing",
				i, s.Schedule, s.Name))
		}
	}
	return out
}

// TokenWarnings report tokens that Evenkeel sends over an unencrypted connection.
func TokenWarnings(c *Config) []string {
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
	return []string{where + ".tokenFile: Evenkeel sends the token to an http:// address, unencrypted; use https:// (with caFile for a private certificate authority)"}
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
