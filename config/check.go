package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/strategies/strategy"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
)

// check reports invalid values, and sets the fields of c that depend on several values.
func check(c *Config, d *strict.Decoder) {
	if !d.Has("apiVersion") || c.APIVersion != Version {
		d.Errorf("apiVersion", "want %s", Version)
	}
	if !d.Has("kind") || c.Kind != Kind {
		d.Errorf("kind", "want %s", Kind)
	}
	loc := checkTimeZone(d, "timeZone", c.TimeZone)
	checkScope(c, d)
	checkLoad(c, d)
	checkPresets(c, d)
	checkStrategies(c, d, loc)
	checkGuards(c, d)
	c.windows = cron.Windows{
		Allow: checkAllowWindows(d, c.Windows.Allow, loc), Deny: checkWindowList(d, "windows.deny", c.Windows.Deny, loc),
	}
	checkFraction(d, "impact.utilizationLimit", c.Impact.UtilizationLimit)
	checkEvictor(c, d)
	checkBreaker(c, d)
	checkApprovals(c, d)
	checkHistory(c, d)
	checkPlacement(c, d)
	checkHints(c, d)
	checkNotify(c, d)
}

func checkTimeZone(d *strict.Decoder, path, name string) *time.Location {
	loc, err := cron.LoadZone(name)
	if err != nil {
		d.Errorf(path, "%v", err)
		return time.UTC
	}
	return loc
}

func checkScope(c *Config, d *strict.Decoder) {
	checkSelector(d, "nodeSelector", c.NodeSelector)
	checkSelector(d, "virtualNodeSelector", c.VirtualNodeSelector)
	checkSelector(d, "namespaces.selector", c.Namespaces.Selector)
	checkNodeMarks(c, d)
	for list, names := range map[string][]string{"namespaces.include": c.Namespaces.Include, "namespaces.exclude": c.Namespaces.Exclude,
		"trustedNamespaces": c.TrustedNamespaces} {
		for i, name := range names {
			path := fmt.Sprintf("%s[%d]", list, i)
			if !cluster.ValidNamespaces(name) {
				d.Errorf(path, "%q is not a valid name of a namespace (%s)", name, cluster.WantNamespaces)
			}
			if list == "namespaces.include" && cluster.ListsNamespace(c.Namespaces.Exclude, name) {
				d.Errorf(path, "%s", overlapText(c.Namespaces.Exclude, name))
			}
		}
	}
}

// checkNodeMarks checks the marks and adds them to the scope of the configuration.
func checkNodeMarks(c *Config, d *strict.Decoder) {
	c.nodeMarks = nil
	m := &c.Placement.NodeMarks
	for _, of := range []struct {
		kind nodemarks.Kind
		list []string
	}{{nodemarks.Starting, m.Starting}, {nodemarks.Outgoing, m.Outgoing}, {nodemarks.Draining, m.Draining}, {nodemarks.Unhealthy, m.Unhealthy}} {
		for i, text := range of.list {
			mark, err := nodemarks.Parse(of.kind, text)
			if err != nil {
				d.Errorf(fmt.Sprintf("placement.nodeMarks.%s[%d]", of.kind, i), "%v", err)
				continue
			}
			c.nodeMarks = append(c.nodeMarks, mark)
		}
	}
}

// overlapText describes a namespace that is included and excluded. The author of the file may have written only one of
// the lists: by default, exclude is not empty.
func overlapText(exclude []string, name string) string {
	byDefault := Default().Namespaces.Exclude
	if !slices.Equal(exclude, byDefault) {
		return name + " is also excluded; remove it from one of the lists"
	}
	return fmt.Sprintf("%s is excluded by default (namespaces.exclude is [%s]); to include it, write namespaces.exclude: []",
		name, strings.Join(byDefault, ", "))
}

// checkStrategies checks and builds the strategies. loc is the default time zone of schedules.
func checkStrategies(c *Config, d *strict.Decoder, loc *time.Location) {
	c.scheduled = nil
	for _, s := range c.Strategies {
		path := s.path()
		if problems := validation.IsDNS1123Label(s.Name); len(problems) > 0 {
			d.Errorf(path, "%q is not a valid name of a strategy (want lower case letters, digits and dashes)", s.Name)
		}
		checkStrategyRules(c, d, path, s)
		if s.Mode != "" {
			d.CheckOneOf(path+".mode", "mode", string(s.Mode), strategyModes())
		}
		built := schedule.Strategy{Rule: schedule.Rule{Name: s.Name}, Mode: cmp.Or(s.Mode, plan.Automatic), Weight: s.Weight, Soft: s.Soft}
		runs := checkStrategySchedule(d, path, s, loc, &built)
		var valid bool
		if built.Strategy, valid = checkStrategyType(c, d, path, s); runs && valid {
			c.scheduled = append(c.scheduled, built)
		}
	}
}

// Bounds of approvals.validFor. A plan that waits longer describes a cluster of long ago.
const minValidFor, maxValidFor = Duration(time.Minute), Duration(30 * 24 * time.Hour)

// Bounds of history.keep. Below an hour, a person may look for a plan that is gone.
const minKeep, maxKeep = Duration(time.Hour), Duration(366 * 24 * time.Hour)

func checkHistory(c *Config, d *strict.Decoder) {
	if k := c.History.Keep; k < minKeep || k > maxKeep {
		d.Errorf("history.keep", "%s is out of range (want %s to %s)", k, minKeep, maxKeep)
	}
}

func checkApprovals(c *Config, d *strict.Decoder) {
	switch valid := c.Approvals.ValidFor; {
	case valid < minValidFor:
		d.Errorf("approvals.validFor", "%s is too short for a person to approve a plan (want %s or more)", valid, minValidFor)
	case valid > maxValidFor:
		d.Errorf("approvals.validFor", "%s is too long (want %s or less)", valid, maxValidFor)
	}
	for _, s := range c.Strategies {
		if s.Mode == plan.Approve && !c.Approvals.Enabled {
			d.Errorf(s.path()+".mode", "approve needs approvals.enabled: true; to plan without evicting, use dryRun")
		}
	}
}

func strategyModes() (names []string) {
	for _, m := range plan.StrategyModes() {
		names = append(names, string(m))
	}
	return names
}

// checkStrategyType builds the strategy. It returns false if the type or an argument is invalid.
func checkStrategyType(c *Config, d *strict.Decoder, path string, s Strategy) (built strategy.Strategy, ok bool) {
	if in := presetsWith(s.Name); s.Type == "" && in != nil {
		d.Errorf(path+".type", "is missing (preset %s has a strategy of this name: add it to the key preset, or write a type)", strings.Join(in, " and "))
		return built, false
	}
	if s.Type == "" {
		d.Errorf(path+".type", "is missing (want one of %s)", strings.Join(strategies.Types(), ", "))
		return built, false
	}
	if !d.CheckOneOf(path+".type", "strategy", s.Type, strategies.Types()) {
		return built, false
	}
	built, errs := strategies.New(s.Name, s.Type, s.Args, c.strategyScope(s))
	for _, err := range errs {
		if err.Path == "" && hasArgumentBesideArgs(d, path, s.Type) {
			continue
		}
		if text := remedies["strategies.*.args."+err.Path]; text != "" {
			err.Message += text
		} else if isMisplacedInArgs(s.Type, err.Path) {
			err.Message = "unknown argument (it is a key of the strategy; write it beside args)"
		}
		d.Errorf(strings.TrimSuffix(path+".args."+err.Path, "."), "%s", err.Message)
	}
	needs := built.Usage
	switch {
	case !needs.Required:
	case c.Load.Source == SourceRequests:
		d.Errorf(path+".args.basis",
			"load needs a source of usage, but load.source is %s (want metricsServer, prometheus or loadWatcher there)", SourceRequests)
	case len(errs) == 0:
		checkMeasuredResources(c, d, path+".args", needs)
	}
	if len(errs) > 0 {
		return built, false
	}
	checkWatchedMean(d, path, s, needs)
	return built, true
}

// checkMeasuredResources rejects resources whose usage the source never measures.
func checkMeasuredResources(c *Config, d *strict.Decoder, path string, needs strategy.UsageNeeds) {
	known := measuredResources(c)
	presetUnknown := !slices.Contains(prometheus.Presets(), prometheus.Preset(c.Load.Prometheus.Preset))
	if !slices.Contains(loadSources, c.Load.Source) || c.Load.Source == SourcePrometheus && presetUnknown {
		return // checkUsage reports this
	}
	for _, r := range needs.Resources {
		if slices.Contains(known, r) {
			continue
		}
		has := cmp.Or(strings.Join(known, ", "), "nothing")
		if c.Load.Source == SourcePrometheus {
			has += "; to measure more, add keys to load.prometheus.queries"
		}
		d.Errorf(path+"."+needs.Paths[r], "load.source: %s does not measure this resource%s (it measures %s)",
			c.Load.Source, suggest.DidYouMean(r, known), has)
	}
}

// checkAllowWindows checks and builds windows with limits.
func checkAllowWindows(d *strict.Decoder, windows []AllowWindow, loc *time.Location) []cron.Window {
	plain := make([]Window, len(windows))
	for i, w := range windows {
		plain[i] = Window{w.Schedule, w.Duration, w.TimeZone}
		checkWindowLimits(d, fmt.Sprintf("windows.allow[%d].limits", i), w.Limits)
	}
	return checkWindowList(d, "windows.allow", plain, loc)
}

// checkWindowList checks and builds windows. loc is the default time zone of windows.
func checkWindowList(d *strict.Decoder, list string, windows []Window, loc *time.Location) []cron.Window {
	var out []cron.Window
	for i, w := range windows {
		path := fmt.Sprintf("%s[%d]", list, i)
		at := loc
		if w.TimeZone != "" {
			at = checkTimeZone(d, path+".timeZone", w.TimeZone)
		}
		if w.Schedule == "" {
			d.Errorf(path+".schedule", "is missing (want a cron expression, such as \"0 22 * * 1-5\")")
		} else if _, err := cron.ParseStart(w.Schedule, at); err != nil {
			d.Errorf(path+".schedule", "%v", err)
		}
		if !d.Has(path + ".duration") {
			d.Errorf(path+".duration", "is missing (want how long the window stays open, such as 6h)")
		} else if err := cron.CheckLength(time.Duration(w.Duration)); err != nil {
			d.Errorf(path+".duration", "%v", err)
		}
		if built, err := cron.NewWindow(w.Schedule, time.Duration(w.Duration), at); err == nil {
			out = append(out, built)
		}
	}
	return out
}
