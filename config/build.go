package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/planner"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/trust"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/strategies/nodeload"
)

// Scope is what the configuration lets Evenkeel work on.
func (c *Config) Scope() cluster.Scope {
	s := cluster.Scope{Include: c.Namespaces.Include, Exclude: c.Namespaces.Exclude}
	s.Usage = cluster.UsageRequirements{MaxAge: time.Duration(c.Load.MaxAge), MinCoverage: c.Load.MinCoverage}
	s.UtilizationLimit = c.Impact.UtilizationLimit
	s.Nodes, s.Namespaces = parseSelector(c.NodeSelector), parseSelector(c.Namespaces.Selector)
	return s
}

// parseSelector of a checked expression; nil selects all.
func parseSelector(text string) labels.Selector {
	sel, err := labels.Parse(text)
	if err != nil || sel.Empty() {
		return nil
	}
	return sel
}

// Location is the time zone of schedules and windows that name none.
func (c *Config) Location() *time.Location {
	loc, err := cron.LoadZone(c.TimeZone)
	if err != nil {
		return time.UTC
	}
	return loc
}

// windows of a checked configuration.
func (c *Config) windows() cron.Windows {
	list := func(in []Window) []cron.Window {
		var out []cron.Window
		for _, w := range in {
			loc := c.Location()
			if w.TimeZone != "" {
				loc, _ = cron.LoadZone(w.TimeZone)
			}
			one, err := cron.NewWindow(w.Schedule, time.Duration(w.Duration), loc)
			if err != nil {
				panic("config: building what was not checked: " + err.Error())
			}
			out = append(out, one)
		}
		return out
	}
	return cron.Windows{Allow: list(c.Windows.Allow), Deny: list(c.Windows.Deny)}
}

// ScheduledStrategy is a strategy with when it is due.
type ScheduledStrategy struct {
	Name     string
	Strategy strategies.Strategy
	Schedule cron.Schedule
}

// BuildStrategies makes the strategies of a configuration that Load accepted.
func (c *Config) BuildStrategies() []ScheduledStrategy {
	out := make([]ScheduledStrategy, 0, len(c.Strategies))
	for _, s := range c.Strategies {
		name := c.TimeZone
		if s.TimeZone != "" {
			name = s.TimeZone
		}
		loc, err := time.LoadLocation(name)
		if err != nil {
			panic("config: building what was not checked: " + err.Error())
		}
		when, err := cron.Parse(s.Schedule, loc)
		if err != nil {
			panic("config: building what was not checked: " + err.Error())
		}
		st, errs := strategies.New(s.Name, s.Type, s.Args, c.Scope())
		if len(errs) > 0 {
			panic("config: building what was not checked: " + errs[0].Error())
		}
		out = append(out, ScheduledStrategy{s.Name, st, when})
	}
	return out
}

// PlannerOptions are the planner's options.
func (c *Config) PlannerOptions() planner.Options {
	o := planner.DefaultOptions()
	g := guard.Options{
		Scope: c.Scope(), MinReplicas: c.Guards.MinReplicas, MinPodAge: time.Duration(c.Guards.MinPodAge), SchedulerTimeout: time.Duration(c.Guards.SchedulerTimeout), Protect: map[guard.Protection]bool{},
		ProtectedStorageClasses: c.Guards.ProtectedStorageClasses, PodSelector: parseSelector(c.Guards.PodSelector),
		Controllers: c.Guards.Controllers, NoEvictionPolicy: guard.Policy(c.Guards.NoEvictionPolicy),
		Windows: c.windows(), TimeZone: c.Location(),
	}
	if n, err := strconv.ParseInt(c.Guards.PriorityBelow, 10, 32); err == nil {
		g.PriorityBelow = int32(n)
	} else {
		g.PriorityBelowName = c.Guards.PriorityBelow
	}
	for _, p := range c.Guards.Protect {
		g.Protect[guard.Protection(p)] = true
	}
	o.Guards = g
	o.Placement = placement.Options{Profiles: c.placementProfiles, GracePeriodSeconds: c.Evictor.GracePeriodSeconds}
	o.Shadow = trust.Options(c.Placement.Trust)
	o.MinConfidence = c.Guards.MinConfidence
	o.MaxUnavailableWithoutPDB = c.Guards.MaxUnavailableWithoutPDB
	l := c.Limits
	o.Limits = planner.Limits{PerPass: l.PerPass, PerNode: l.PerNode, PerNamespace: l.PerNamespace, PerOwner: l.PerOwner, PerZone: l.PerZone, PerHour: planner.PerHour(l.PerHour)}
	o.Effort = l.MaxPredictions.For(0)
	f := c.Evictor.InFlight
	o.InFlight = planner.InFlight{Total: f.Total.For(0), PerNode: f.PerNode.For(0), PerOwner: f.PerOwner.For(0)}
	o.Pressure = planner.PressureHint{LabelKey: c.Hints.Label.Key, LabelValue: c.Hints.Label.Value, TaintKey: c.Hints.Taint.Key}
	o.HintsNodes = c.Hints.Enabled
	o.HintRules, o.Foretell = c.PressureOptions(), c.DryRun && c.Hints.Enabled
	o.Breaker, o.Benefit, o.Stay = c.BreakerOptions(), c.BenefitOptions(), c.HistoryOptions().Initial
	o.Steer, o.SteerMaxFrac = hints.Kind(c.Evictor.Steer), c.Evictor.SteerMaxFrac
	for _, s := range c.BuildStrategies() {
		info := planner.StrategyInfo{Name: s.Name, Needs: s.Strategy.Requirements()}
		if l, ok := s.Strategy.(*nodeload.Strategy); ok {
			info.ByLoad = l.MeasuredResources()
		}
		o.Strategies = append(o.Strategies, info)
	}
	o.ConfigHash, o.NotEnforced = c.Hash(), c.NotEnforced()
	return o
}

// HistoryOptions are the settings of what is remembered between passes.
func (c *Config) HistoryOptions() history.Options {
	b := c.Evictor.Backoff
	return history.Options{Initial: time.Duration(b.Initial), Max: time.Duration(b.Max)}
}

// PerMinute is the pace of evictions; 0 means no limit.
func (c *Config) PerMinute() int {
	n := c.Evictor.PerMinute.For(0)
	if n == math.MaxInt {
		return 0
	}
	return n
}

// Hash identifies what the effective configuration makes of a cluster, whatever
// its comments and the order of its keys, and the files that it names: 12 hex
// digits. What is served is left out, and so is dryRun: a dry run makes the same plan, and
// whoever has read that may turn dryRun off and have just it carried out.
func (c *Config) Hash() string {
	shaping := *c
	shaping.DryRun, shaping.Web = true, Web{}
	b, err := json.Marshal(&shaping)
	if err != nil {
		panic("config: marshalling: " + err.Error()) // only data types inside
	}
	b = append(b, strings.Join(c.fileDigests, "")...)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
