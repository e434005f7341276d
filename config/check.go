package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/internal/cron"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/strategies"
	"github.com/evenkeel-project/evenkeel/strategies/arg"
	"github.com/evenkeel-project/evenkeel/strategies/nodeload"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
)

// check reports what is well-formed but makes no sense.
func (c *Config) check(e *decoder) {
	if e.nodes["apiVersion"] == nil || c.APIVersion != Version {
		e.fieldError("apiVersion", "want %s", Version)
	}
	if e.nodes["kind"] == nil || c.Kind != Kind {
		e.fieldError("kind", "want %s", Kind)
	}
	loc := checkTimeZone(e, "timeZone", c.TimeZone)
	c.checkScope(e)
	c.checkLoad(e)
	c.checkStrategies(e, loc)
	c.checkGuards(e)
	c.checkWindows(e, loc)
	checkFraction(e, "impact.utilizationLimit", c.Impact.UtilizationLimit)
	c.checkEvictor(e)
	c.checkBreakerAndBenefit(e)
	c.checkPlacement(e)
	c.checkWeb(e)
	c.checkHints(e)
}

func checkTimeZone(e *decoder, path, name string) *time.Location {
	loc, err := cron.LoadZone(name)
	if err != nil {
		e.fieldError(path, "%v", err)
		return time.UTC
	}
	return loc
}

func (c *Config) checkScope(e *decoder) {
	checkSelector(e, "nodeSelector", c.NodeSelector)
	checkSelector(e, "namespaces.selector", c.Namespaces.Selector)
	for list, names := range map[string][]string{"include": c.Namespaces.Include, "exclude": c.Namespaces.Exclude} {
		for i, name := range names {
			path := fmt.Sprintf("namespaces.%s[%d]", list, i)
			if len(validation.IsDNS1123Label(name)) > 0 {
				e.fieldError(path, "%q is not a namespace (want lower case letters, digits and dashes)", name)
			}
			if list == "include" && slices.Contains(c.Namespaces.Exclude, name) {
				e.fieldError(path, "%s is excluded as well; drop it from one of the lists", name)
			}
		}
	}
}

func checkSelector(e *decoder, path, text string) {
	if _, err := labels.Parse(text); err != nil {
		e.fieldError(path, "%q is not a label selector: %v", text, err)
	}
}

func (c *Config) checkStrategies(e *decoder, loc *time.Location) {
	names := map[string]int{}
	for i, s := range c.Strategies {
		path := fmt.Sprintf("strategies[%d]", i)
		if problems := validation.IsDNS1123Label(s.Name); len(problems) > 0 {
			e.fieldError(path+".name", "%q cannot name a strategy (want lower case letters, digits and dashes)", s.Name)
		}
		if first, twice := names[s.Name]; twice && s.Name != "" {
			e.fieldError(path+".name", "%s is the name of strategies[%d] already", s.Name, first)
		} else {
			names[s.Name] = i
		}
		at := loc
		if s.TimeZone != "" {
			at = checkTimeZone(e, path+".timeZone", s.TimeZone)
		}
		if s.Schedule == "" {
			e.fieldError(path+".schedule", "is missing (want a cron expression, such as \"0 * * * *\")")
		} else if _, err := cron.Parse(s.Schedule, at); err != nil {
			e.fieldError(path+".schedule", "%v", err)
		}
		c.checkStrategyType(e, path, s)
	}
}

func (c *Config) checkStrategyType(e *decoder, path string, s Strategy) {
	if types := strategies.Types(); !slices.Contains(types, s.Type) {
		e.fieldError(path+".type", "unknown strategy %q%s (want one of %s)", s.Type, suggest.DidYouMean(s.Type, types), strings.Join(types, ", "))
		return
	}
	st, errs := strategies.New(s.Name, s.Type, s.Args, c.Scope())
	for _, err := range errs {
		at := path + ".args"
		if err.Path != "" {
			at += "." + err.Path
		}
		e.fieldError(at, "%s", err.Message)
	}
	l, ok := st.(*nodeload.Strategy)
	switch {
	case !ok || !l.UsesLoad():
	case c.Load.Source == SourceRequests:
		e.fieldError(path+".args.basis", "load needs a source of usage, and load.source is %s (want metricsServer, prometheus or loadWatcher there)", SourceRequests)
	case len(errs) == 0:
		c.checkMeasuredResources(e, path+".args", l)
	}
}

// checkMeasuredResources refuses what the source never measures: a strategy of which one
// resource is unknown does nothing at all.
func (c *Config) checkMeasuredResources(e *decoder, path string, l *nodeload.Strategy) {
	known := c.measuredResources()
	if !slices.Contains(loadSources, c.Load.Source) || c.Load.Source == SourcePrometheus && !slices.Contains(prometheus.Presets(), prometheus.Preset(c.Load.Prometheus.Preset)) {
		return // a mistake of its own
	}
	for _, r := range l.MeasuredResources() {
		if slices.Contains(known, r) {
			continue
		}
		has := strings.Join(known, ", ")
		if has == "" {
			has = "nothing"
		}
		if c.Load.Source == SourcePrometheus {
			has += "; more are keys of load.prometheus.queries"
		}
		at := path + ".target." + r
		if l.UsesDeviation() {
			at = path + ".deviation." + r
		}
		e.fieldError(at, "load.source: %s does not measure it%s (it measures %s)", c.Load.Source, suggest.DidYouMean(r, known), has)
	}
}

// minStaleness is longer than a watch takes that ends as it should and begins
// anew, on a server that is busy.
const minStaleness = 5 * time.Second

func (c *Config) checkGuards(e *decoder) {
	g := c.Guards
	checkFraction(e, "guards.minConfidence", g.MinConfidence)
	if g.MinReplicas < 1 {
		e.fieldError("guards.minReplicas", "%d is too small (want 1 or more)", g.MinReplicas)
	}
	if g.MaxUnavailableWithoutPDB < 0 {
		e.fieldError("guards.maxUnavailableWithoutPDB", "%d is negative (want 0 or more)", g.MaxUnavailableWithoutPDB)
	}
	if g.MaxStaleness < Duration(minStaleness) {
		e.fieldError("guards.maxStaleness", "%s is too short, for every watch begins anew now and then (want %s or more)", g.MaxStaleness, Duration(minStaleness))
	}
	if _, err := strconv.ParseInt(g.PriorityBelow, 10, 32); err != nil {
		if problems := validation.IsDNS1123Subdomain(g.PriorityBelow); len(problems) > 0 {
			e.fieldError("guards.priorityBelow", "%q is neither a number nor the name of a PriorityClass", g.PriorityBelow)
		}
	}
	var known []string
	for _, p := range guard.Protections() {
		known = append(known, string(p))
	}
	for i, p := range g.Protect {
		if !slices.Contains(known, p) {
			e.fieldError(fmt.Sprintf("guards.protect[%d]", i), "unknown protection %q%s (want one of %s)", p, suggest.DidYouMean(p, known), strings.Join(known, ", "))
		}
	}
	c.checkGuardSelectors(e)
}

func (c *Config) checkGuardSelectors(e *decoder) {
	g := c.Guards
	checkSelector(e, "guards.podSelector", g.PodSelector)
	for i, name := range g.ProtectedStorageClasses {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			e.fieldError(fmt.Sprintf("guards.protectedStorageClasses[%d]", i), "%q is not the name of a StorageClass (want lower case letters, digits, dashes and dots)", name)
		}
	}
	for i, name := range g.Controllers {
		group, kind, found := strings.Cut(name, "/")
		if !found || kind == "" || strings.Contains(kind, "/") || len(validation.IsDNS1123Subdomain(group)) > 0 {
			e.fieldError(fmt.Sprintf("guards.controllers[%d]", i), "%q is not a kind of controller (want group/Kind, such as apps.kruise.io/CloneSet)", name)
		}
	}
	if want := []string{string(guard.Preferred), string(guard.Mandatory)}; !slices.Contains(want, g.NoEvictionPolicy) {
		e.fieldError("guards.noEvictionPolicy", "unknown policy %q%s (want preferred or mandatory)", g.NoEvictionPolicy, suggest.DidYouMean(g.NoEvictionPolicy, want))
	}
}

func (c *Config) checkWindows(e *decoder, loc *time.Location) {
	for list, windows := range map[string][]Window{"allow": c.Windows.Allow, "deny": c.Windows.Deny} {
		for i, w := range windows {
			path := fmt.Sprintf("windows.%s[%d]", list, i)
			at := loc
			if w.TimeZone != "" {
				at = checkTimeZone(e, path+".timeZone", w.TimeZone)
			}
			if w.Schedule == "" {
				e.fieldError(path+".schedule", "is missing (want a cron expression, such as \"0 22 * * 1-5\")")
			} else if _, err := cron.ParseStart(w.Schedule, at); err != nil {
				e.fieldError(path+".schedule", "%v", err)
			}
			if e.nodes[path+".duration"] == nil {
				e.fieldError(path+".duration", "is missing (want how long the window stays open, such as 6h)")
			} else if err := cron.CheckLength(time.Duration(w.Duration)); err != nil {
				e.fieldError(path+".duration", "%v", err)
			}
		}
	}
}

func (c *Config) checkEvictor(e *decoder) {
	v := c.Evictor
	if v.GracePeriodSeconds != nil && *v.GracePeriodSeconds < 0 {
		e.fieldError("evictor.gracePeriodSeconds", "%d is negative (want 0 or more, or null for the pod's own)", *v.GracePeriodSeconds)
	}
	if v.VerifyTimeout < Duration(time.Second) {
		e.fieldError("evictor.verifyTimeout", "%s is too short to see a replacement come up (want 1s or more)", v.VerifyTimeout)
	}
	if want := []string{string(hints.None), string(hints.Label), string(hints.Taint)}; !slices.Contains(want, v.Steer) {
		e.fieldError("evictor.steer", "unknown way to steer %q%s (want none, label or taint)", v.Steer, suggest.DidYouMean(v.Steer, want))
	}
	checkFraction(e, "evictor.steerMaxFrac", v.SteerMaxFrac)
	if v.SteerTTL < Duration(time.Second) {
		e.fieldError("evictor.steerTTL", "%s is too short to see a replacement scheduled (want 1s or more)", v.SteerTTL)
	}
	if b := v.Backoff; b.Initial <= 0 {
		e.fieldError("evictor.backoff.initial", "%s is no rest (want more than 0s, such as 10m)", b.Initial)
	} else if b.Max < b.Initial {
		e.fieldError("evictor.backoff.max", "%s is less than evictor.backoff.initial (want %s or more)", b.Max, b.Initial)
	}
	h := c.Limits.PerHour
	for path, n := range map[string]interface{ For(int) int }{
		"evictor.perMinute": v.PerMinute, "evictor.inFlight.total": v.InFlight.Total,
		"evictor.inFlight.perNode": v.InFlight.PerNode, "evictor.inFlight.perOwner": v.InFlight.PerOwner,
		"limits.perHour.owner": h.Owner, "limits.perHour.namespace": h.Namespace, "limits.perHour.cluster": h.Cluster, "limits.maxPredictions": c.Limits.MaxPredictions,
	} {
		if strings.HasSuffix(fmt.Sprint(n), "%") {
			e.fieldError(path, "a share makes no sense here (want a whole number, or unlimited)")
		} else if n.For(1) < 1 {
			e.fieldError(path, "0 would never evict (want 1 or more, or unlimited; to evict nothing set dryRun: true)")
		}
	}
}

func checkFraction(e *decoder, path string, v float64) {
	for _, err := range arg.Fraction(path, v) {
		e.fieldError(path, "%s", err.Message)
	}
}
