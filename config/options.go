package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/history"
	"github.com/evenkeel-project/evenkeel/planner/limits"
	"github.com/evenkeel-project/evenkeel/planner/search"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// BuildStrategies returns the valid strategies, in the order of the file.
func (c *Config) BuildStrategies() []schedule.Strategy { return slices.Clone(c.scheduled) }

// Scope returns the nodes and namespaces in scope, and the requirements for usage data.
func (c *Config) Scope() cluster.Scope {
	return cluster.Scope{
		Include: c.Namespaces.Include, Exclude: c.Namespaces.Exclude, Namespaces: parseSelector(c.Namespaces.Selector),
		Trusted:          c.TrustedNamespaces,
		Nodes:            parseSelector(c.NodeSelector),
		Virtual:          c.virtualNodes(),
		NewArchitectures: c.Placement.NewArchitectures,
		Marks:            nodemarks.Table{Extra: c.nodeMarks},
		Usage:            cluster.UsageRequirements{MaxAge: time.Duration(c.Load.MaxAge), MinCoverage: c.Load.MinCoverage},
		UtilizationLimit: c.Impact.UtilizationLimit,
		Hints:            c.hintMarks(),
	}
}

func (c *Config) virtualNodes() cluster.VirtualNodes {
	return cluster.VirtualNodes{Selector: parseSelector(c.VirtualNodeSelector)}
}

// hintMarks returns the labels and taints of both kinds of hints: those of steering, and those of pressure hints, today
// and in earlier configurations.
func (c *Config) hintMarks() cluster.HintMarks {
	owned := c.PressureOptions().Owned()
	return cluster.HintMarks{Labels: append(owned.Labels, hints.Key+"="+hints.Value), Taints: append(owned.Taints, hints.Key)}
}

// parseSelector returns nil, which selects all objects, for an empty selector. An invalid selector selects none.
func parseSelector(text string) labels.Selector {
	sel, err := labels.Parse(text)
	switch {
	case err != nil:
		return labels.Nothing()
	case sel.Empty():
		return nil
	}
	return sel
}

// PlannerOptions returns the settings of the configuration that concern the planner.
func (c *Config) PlannerOptions() search.Options {
	o := search.DefaultOptions()
	o.Guards = c.guardOptions()
	o.Placement = placement.Options{Profiles: c.placementProfiles, GracePeriodSeconds: c.Evictor.GracePeriodSeconds}
	if o.Trust.MinHitRate = c.Placement.Trust; o.Trust.MinHitRate == 0 {
		o.Trust.MinBindings = 0
	}
	o.MinConfidence, o.DisplaceAcrossNamespaces = c.Guards.MinConfidence, c.Guards.DisplaceAcrossNamespaces
	o.MaxUnavailableWithoutPDB = c.Guards.MaxUnavailableWithoutPDB
	l, f := c.Limits, c.Evictor.InFlight
	o.Limits = limits.Options{
		PerPass: l.PerPass, PerNode: l.PerNode, PerNamespace: l.PerNamespace, PerOwner: l.PerOwner, PerZone: l.PerZone,
		PerHour: limits.PerHour(l.PerHour),
	}
	o.WindowLimits = c.windowLimits()
	o.MaxPredictions, o.MaxPlanTime = l.MaxPredictions.For(0), time.Duration(l.MaxPlanTime)
	o.InFlight = eligibility.InFlight{Total: f.Total.For(0), PerNode: f.PerNode.For(0), PerOwner: f.PerOwner.For(0)}
	key, value, _ := strings.Cut(c.Hints.Label, "=")
	o.Pressure = pressure.Mark{LabelKey: key, LabelValue: value, TaintKey: c.Hints.TaintKey(), Owned: c.PressureOptions().Owned()}
	o.HintsNodes = c.Hints.Enabled
	o.HintRules, o.PredictHints = c.PressureOptions(), c.DryRun && c.Hints.Enabled
	o.Breaker, o.MinReplacementAge = c.BreakerOptions(), c.HistoryOptions().Initial
	o.Steer = hints.Kind(c.Evictor.Steer)
	for _, s := range c.scheduled {
		set := c.Strategies[slices.IndexFunc(c.Strategies, func(x Strategy) bool { return x.Name == s.Name })]
		o.Strategies = append(o.Strategies, eligibility.Strategy{
			Name: s.Name, Needs: s.Strategy.Requirements, Declared: s.Strategy.Declared, ByLoad: s.Strategy.Usage.Resources, Mode: s.Mode,
			Own: c.strategyRules(set), Soft: s.Soft,
			LandingNotRequired: c.landingOf(set) == plan.LandingNotRequired, Settings: describeStrategy(set),
			Packs: strategies.Lookup(set.Type).Packs,
		})
	}
	o.ConfigHash = c.PlanHash()
	return o
}

func (c *Config) guardOptions() guard.Options {
	g := guard.Options{
		Scope: c.Scope(), MinReplicas: c.Guards.MinReplicas, MinPodAge: time.Duration(c.Guards.MinPodAge),
		MaxGracePeriod: time.Duration(c.Guards.MaxGracePeriod), GracePeriodSeconds: c.Evictor.GracePeriodSeconds,
		Protect:          map[guard.Protection]bool{},
		SafeLocalVolumes: c.Guards.SafeLocalVolumes, ProtectedStorageClasses: c.Guards.ProtectedStorageClasses, PodSelector: parseSelector(c.Guards.PodSelector),
		Controllers: c.Guards.Controllers, Groups: c.Guards.Groups, GroupKeys: c.Guards.GroupKeys, NoEvictionPolicy: guard.Policy(c.Guards.NoEvictionPolicy),
		Windows: c.windows, TimeZone: time.UTC,
	}
	if loc, err := cron.LoadZone(c.TimeZone); err == nil {
		g.TimeZone = loc
	}
	if n, err := strconv.ParseInt(c.Guards.PriorityBelow, 10, 32); err == nil {
		g.PriorityBelow = int32(n)
	} else {
		g.PriorityBelowName = c.Guards.PriorityBelow
	}
	for _, b := range c.Guards.BlockingPods {
		if sel := parseSelector(b.Selector); sel != nil {
			g.BlockingPods = append(g.BlockingPods, guard.BlockingPods{Selector: sel, Namespace: b.Namespace})
		}
	}
	for _, p := range c.Guards.Protect {
		g.Protect[guard.Protection(p)] = true
	}
	return g
}

// HistoryOptions returns the options of the eviction history.
func (c *Config) HistoryOptions() history.Options {
	return history.Options{Initial: time.Duration(c.Evictor.Backoff), BackgroundTimeout: time.Duration(c.Evictor.BackgroundTimeout)}
}

// BreakerOptions returns the settings of the configuration that concern the breaker.
func (c *Config) BreakerOptions() breaker.Options {
	b := c.Evictor.Breaker
	return breaker.Options{
		MaxUnreadyNodesFrac: b.MaxUnreadyNodesFrac, MaxPendingPods: b.MaxPendingPods, MaxFailedFrac: b.MaxFailedFrac,
		Hold: time.Duration(b.Hold),
	}
}

// PerMinute returns the limit on evictions per minute; 0 means no limit.
func (c *Config) PerMinute() int {
	n := c.Evictor.PerMinute.For(0)
	if n == math.MaxInt {
		return 0
	}
	return n
}

// ReferencedFiles returns the paths of all files that the configuration refers to, including unreadable files.
func (c *Config) ReferencedFiles() []string { return slices.Clone(c.referencedFiles) }

// Hash returns 12 hex digits that identify the effective configuration, including the content of referenced files.
// Comments and key order do not change the hash.
func (c *Config) Hash() string {
	hashed := *c
	hashed.Preset = nil // Strategies has its strategies
	b, err := json.Marshal(&hashed)
	if err != nil {
		panic("config: marshalling: " + err.Error()) // cannot happen: a Config contains only data
	}
	sum := sha256.Sum256(append(b, strings.Join(c.fileDigests, "")...))
	return hex.EncodeToString(sum[:6])
}

// PlanHash returns the hash of what plans depend on: the keys load.serve, approvals, history, notify
// and dryRun do not change it. A dry
// run makes the same plan as a live run, so a user can check the plan, set dryRun to false, and execute the plan.
func (c *Config) PlanHash() string {
	hashed := *c
	hashed.DryRun, hashed.Load.Serve, hashed.Approvals, hashed.History, hashed.Notify = true, false, Approvals{}, History{}, nil
	return hashed.Hash()
}

// HintRules returns the rules of hints.rules and hints.rulesFile. It returns no rules if hints are disabled.
func (c *Config) HintRules() []pressure.Rule {
	if !c.Hints.Enabled {
		return nil
	}
	return slices.Clone(c.pressureRules)
}

// PressureOptions returns the rules, the label and the taint of pressure hints.
func (c *Config) PressureOptions() pressure.Options {
	h := c.Hints
	o := pressure.Options{
		Label: h.Label, Taint: h.Taint, MaxHintedFrac: h.MaxHintedFrac, TTL: time.Duration(h.TTL), Rules: c.HintRules(),
		Scope: parseSelector(c.NodeSelector), Virtual: c.virtualNodes(), Former: pressure.Owned{Taints: []string{h.TaintKey()}},
	}
	for _, mark := range h.Former {
		if strings.Contains(mark, "=") {
			o.Former.Labels = append(o.Former.Labels, mark)
		} else {
			o.Former.Taints = append(o.Former.Taints, mark)
		}
	}
	return o
}

// TaintKey returns the key of the taint that Evenkeel puts or, without taint, put before.
func (h *Hints) TaintKey() string { return cmp.Or(h.Taint, pressure.Key) }

// WritesHints reports whether Evenkeel writes pressure hints to nodes. A dry run does not.
func (c *Config) WritesHints() bool { return c.Hints.Enabled && !c.DryRun }

// HasUsageSource reports whether Evenkeel measures usage.
func (c *Config) HasUsageSource() bool { return c.Load.Source != SourceRequests }

// watcherWindow is the longest window that clients can request from a load-watcher.
const watcherWindow = 15 * time.Minute

// UsageWindowOptions returns the options of the usage windows: kept samples, statistic, and watched levels.
func (c *Config) UsageWindowOptions() window.Options {
	o := window.Options{
		Source: c.Load.Source, Statistic: window.Statistic(c.Load.Statistic), Window: time.Duration(c.Load.Window),
		MaxAge: time.Duration(c.Load.MaxAge), Interval: time.Duration(c.Load.Interval),
	}
	o.NodesOnly = c.Load.Source == SourceLoadWatcher || c.Load.Source == SourcePrometheus && !c.PrometheusOptions().QueriesPods()
	if c.Load.Source == SourcePrometheus {
		o.RateWindow = time.Duration(c.Load.Prometheus.RateWindow)
	}
	if c.Load.Serve {
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
		for _, w := range s.Strategy.Usage.Watches {
			level := cmp.Or(w.Target, w.Deviation) // unlike a hint, a strategy enters and leaves the hot state at the same level
			out = append(out, window.LevelWatch{
				Name: w.Name, Resource: w.Resource, Enter: level, Leave: level, Deviation: w.Target == 0, For: w.For,
			})
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

// PrometheusOptions returns the options of the Prometheus source, without the HTTP client.
func (c *Config) PrometheusOptions() prometheus.Options {
	p := c.Load.Prometheus
	return prometheus.Options{
		URL: p.URL, Preset: prometheus.Preset(p.Preset), RateWindow: time.Duration(p.RateWindow),
		Job: p.Job, Queries: p.Queries, PodQueries: p.PodQueries, Freshness: p.Freshness, Rules: c.HintRuleQueries(),
		NodeLabel: p.NodeLabel, Timeout: time.Duration(c.Load.Timeout), MaxAge: time.Duration(c.Load.MaxAge),
	}
}
