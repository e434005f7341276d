package descheduler

import (
	"math"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/plan"
)

// guardSet are the guards of a profile, or those that all profiles have in common.
type guardSet struct {
	landing           plan.LandingRule
	minReplicas       int
	minPodAge         time.Duration
	priorityBelow     string
	protect           []string
	storageClasses    []string
	podSelector       string
	namespaceSelector string
	noEvictionPolicy  string
}

const (
	systemCritical    = "system-cluster-critical"
	maxPriority       = 2_000_000_000 // of system-cluster-critical, the greatest threshold that the descheduler permits
	anyPriority       = math.MaxInt32
	preferredEviction = "preferred"
	mandatoryEviction = "mandatory"
)

// readGuards converts the arguments of DefaultEvictor.
func (c *conversion) readGuards(p *profileModel) guardSet {
	e, path := p.evictor, p.evictorPath
	note := func(field, text string) {
		c.findings.note("guards", Note{Profile: p.name, Plugin: defaultEvictor, Field: field, Text: text})
	}
	g := guardSet{landing: plan.LandingRequired, minReplicas: max(1, e.MinReplicas), noEvictionPolicy: preferredEviction}
	if !e.NodeFit {
		g.landing = plan.LandingNotRequired
	}
	c.findings.checkNotNegative(path+".minReplicas", e.MinReplicas)
	if e.MinReplicas > 1 {
		note("minReplicas", "counts the replicas that the workload wants; the descheduler counts the pods that exist")
	}
	if e.MinPodAge != "" {
		age, err := time.ParseDuration(e.MinPodAge)
		if err != nil || age < 0 {
			c.findings.fail(path+".minPodAge", "%q is not a duration (want one such as 10m)", e.MinPodAge)
		}
		g.minPodAge = age
		note("minPodAge", "counts from the creation of the pod; the descheduler counts from its start")
	}
	switch e.NoEvictionPolicy {
	case "", "Preferred":
	case "Mandatory":
		g.noEvictionPolicy = mandatoryEviction
	default:
		c.findings.fail(path+".noEvictionPolicy", "%q is unknown (want Preferred or Mandatory)", e.NoEvictionPolicy)
	}
	if e.NodeSelector != "" {
		text := "no effect, because nodeFit is false"
		if e.NodeFit {
			text = "no counterpart: it only limits the nodes that nodeFit looks at, but the scheduler can choose the others, too"
		}
		note("nodeSelector", text)
	}
	g.podSelector = c.findings.selector(path+".labelSelector", e.LabelSelector)
	g.namespaceSelector = c.findings.selector(path+".namespaceLabelSelector", e.NamespaceLabelSelector)
	c.readProtections(p, &g, note)
	c.readPriority(p, &g, note)
	return g
}

// readPriority converts priorityThreshold. It follows readProtections, because it depends on SystemCriticalPods.
func (c *conversion) readPriority(p *profileModel, g *guardSet, note func(field, text string)) {
	g.priorityBelow = systemCritical
	t, path := p.evictor.PriorityThreshold, p.evictorPath+".priorityThreshold"
	if !slices.Contains(g.protect, "SystemCriticalPods") {
		g.priorityBelow = strconv.Itoa(anyPriority)
		if t != nil {
			note("priorityThreshold", p.evictor.anyPriorityCause()+" lets it evict pods of any priority; so it is not kept")
		}
		return
	}
	switch {
	case t == nil:
	case t.Value != nil && t.Name != "":
		c.findings.fail(path, "value and name are both set, which the descheduler rejects (want one of them)")
	case t.Value != nil && *t.Value > maxPriority:
		c.findings.fail(path+".value", "%d is above %d, which the descheduler rejects", *t.Value, maxPriority)
	case t.Value != nil:
		g.priorityBelow = strconv.Itoa(*t.Value)
	case t.Name != "" && len(validation.IsDNS1123Subdomain(t.Name)) > 0:
		c.findings.fail(path+".name", "no PriorityClass can have the name %q, so the descheduler does not start", t.Name)
	case t.Name != "":
		g.priorityBelow = t.Name
	}
}

// anyPriorityCause names the setting that permits evictions of pods of any priority.
func (e *evictorArgs) anyPriorityCause() string {
	const key = "podProtections.defaultDisabled"
	if field := e.fieldOf(key, "SystemCriticalPods"); field != key {
		return "no effect in the descheduler, because " + field + ": true"
	}
	return "no effect in the descheduler, because SystemCriticalPods in " + key
}

// shareGuards finds the guards that all profiles have in common. They are the global guards; a
// profile that is stricter gives the rest to its strategies.
func (c *conversion) shareGuards() {
	for _, p := range c.profiles {
		p.guards = c.readGuards(p)
	}
	if len(c.profiles) == 0 {
		c.profiles = []*profileModel{{}}
		defer func() { c.profiles = nil }()
		c.profiles[0].guards = c.readGuards(c.profiles[0])
	}
	g := c.profiles[0].guards
	g.protect, g.storageClasses = slices.Clone(g.protect), slices.Clone(g.storageClasses)
	for _, p := range c.profiles[1:] {
		g.meet(p.guards)
	}
	c.guards = g
	for _, p := range c.profiles {
		if p.guards.noEvictionPolicy != g.noEvictionPolicy {
			c.findings.note("guards", Note{Profile: p.name, Plugin: defaultEvictor, Field: "noEvictionPolicy",
				Text: "a guard for all strategies, so Mandatory of another profile counts here, too"})
		}
	}
}

// meet loosens g until it permits what either permits. Only noEvictionPolicy takes the stricter
// value, because strategies have none.
func (g *guardSet) meet(o guardSet) {
	g.minReplicas, g.minPodAge = min(g.minReplicas, o.minReplicas), min(g.minPodAge, o.minPodAge)
	g.priorityBelow = higherPriority(g.priorityBelow, o.priorityBelow)
	g.protect = intersection(g.protect, o.protect)
	g.storageClasses = intersection(g.storageClasses, o.storageClasses)
	if g.podSelector != o.podSelector {
		g.podSelector = ""
	}
	if g.namespaceSelector != o.namespaceSelector {
		g.namespaceSelector = ""
	}
	if o.noEvictionPolicy == mandatoryEviction {
		g.noEvictionPolicy = mandatoryEviction
	}
}

// higherPriority returns a threshold that is at least as high as both.
func higherPriority(a, b string) string {
	m, aIsNumber := priorityOf(a)
	n, bIsNumber := priorityOf(b)
	switch {
	case a == b || aIsNumber && bIsNumber && m >= n:
		return a
	case aIsNumber && bIsNumber:
		return b
	case aIsNumber && m > maxPriority || bIsNumber && n > maxPriority:
		return strconv.Itoa(anyPriority)
	}
	return systemCritical
}

func priorityOf(text string) (int, bool) {
	if text == systemCritical {
		return maxPriority, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

func intersection(a, b []string) []string {
	return slices.DeleteFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// addOwnGuards adds the guards in which the profile is stricter than the global guards.
func (s *strategy) addOwnGuards() {
	own, global := s.profile.guards, s.c.guards
	add := func(key, value string) { s.guards = append(s.guards, yamlEntry{key, value}) }
	if own.minReplicas != global.minReplicas {
		add("minReplicas", strconv.Itoa(own.minReplicas))
	}
	if own.minPodAge != global.minPodAge {
		add("minPodAge", config.Duration(own.minPodAge).String())
	}
	if own.priorityBelow != global.priorityBelow {
		add("priorityBelow", quotePriority(own.priorityBelow))
	}
	if rest := without(own.protect, global.protect); len(rest) > 0 {
		add("protect", flowList(rest))
	}
	if rest := without(own.storageClasses, global.storageClasses); len(rest) > 0 {
		add("protectedStorageClasses", flowList(rest))
	}
	if own.podSelector != global.podSelector {
		s.podSelector = own.podSelector
	}
	if own.namespaceSelector != global.namespaceSelector {
		s.namespaceSelector = own.namespaceSelector
	}
	if own.landing == plan.LandingNotRequired {
		s.landing = own.landing
	}
}
