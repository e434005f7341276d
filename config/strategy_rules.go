package config

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/strategies"
)

// strategyScope returns the global scope, narrowed by the strategy.
func (c *Config) strategyScope(s Strategy) cluster.Scope {
	scope := c.Scope()
	scope.Nodes = parseSelector(joinSelectors(c.NodeSelector, s.NodeSelector))
	scope.Pods = parseSelector(s.PodSelector)
	if n := s.Namespaces; n != nil {
		if len(n.Include) > 0 {
			scope.Include = n.Include // the check rejects namespaces that are not in the global list
		}
		scope.Exclude = slices.Concat(scope.Exclude, n.Exclude)
		scope.Namespaces = parseSelector(joinSelectors(c.Namespaces.Selector, n.Selector))
	}
	return scope
}

// joinSelectors returns the selector of the objects that both select.
func joinSelectors(a, b string) string {
	return strings.Join(slices.DeleteFunc([]string{a, b}, func(s string) bool { return strings.TrimSpace(s) == "" }), ",")
}

// landingOf returns the landing rule of a strategy. Strategies whose goals depend on the landing
// always require a place.
func (c *Config) landingOf(s Strategy) plan.LandingRule {
	if !strategies.Lookup(s.Type).LandingOptional {
		return plan.LandingRequired
	}
	return cmp.Or(s.Landing, plan.LandingRequired)
}

// strategyRules returns the rules of a strategy's own, or nil if it has none.
func (c *Config) strategyRules(s Strategy) *eligibility.StrategyRules {
	if s.NodeSelector == "" && s.Namespaces == nil && s.PodSelector == "" && s.Limits == nil && s.Guards == nil {
		return nil
	}
	out := &eligibility.StrategyRules{
		Scope: c.strategyScope(s), NodeSelector: parseSelector(s.NodeSelector), PodSelector: parseSelector(s.PodSelector),
	}
	if l := s.Limits; l != nil {
		out.Limits = new(orUnlimited(l))
	}
	if g := s.Guards; g != nil {
		merged := c.guardOptions()
		g.narrow(&merged)
		out.Guards = &merged
	}
	return out
}

// narrow replaces the global guards by those of the strategy. Both are checked, so a value that cannot be compared with
// the global one does not loosen it.
func (g *StrategyGuards) narrow(o *guard.Options) {
	if g.MinReplicas != nil {
		o.MinReplicas = *g.MinReplicas
	}
	if g.MinPodAge != nil {
		o.MinPodAge = time.Duration(*g.MinPodAge)
	}
	if n, err := strconv.ParseInt(g.PriorityBelow, 10, 32); err == nil {
		o.PriorityBelow, o.PriorityBelowName = int32(n), ""
	} else if g.PriorityBelow != "" {
		o.PriorityBelowName = g.PriorityBelow
	}
	o.Protect = maps.Clone(o.Protect)
	for _, p := range g.Protect {
		o.Protect[guard.Protection(p)] = true
	}
	o.ProtectedStorageClasses = slices.Concat(o.ProtectedStorageClasses, g.ProtectedStorageClasses)
}

// describeStrategy returns the settings of a strategy's own for plans, or nil if it has none.
func describeStrategy(s Strategy) *plan.StrategySettings {
	out := &plan.StrategySettings{
		NodeSelector: s.NodeSelector, Namespaces: s.Namespaces, PodSelector: s.PodSelector, Limits: s.Limits, Soft: s.Soft, Landing: s.Landing,
	}
	if s.Weight != nil {
		out.Weight = *s.Weight
	}
	if g := s.Guards; g != nil {
		out.Guards = &plan.StrategyGuards{
			PriorityBelow: g.PriorityBelow, Protect: g.Protect, ProtectedStorageClasses: g.ProtectedStorageClasses,
		}
		if g.MinReplicas != nil {
			out.Guards.MinReplicas = *g.MinReplicas
		}
		if g.MinPodAge != nil {
			out.Guards.MinPodAge = g.MinPodAge.String()
		}
	}
	if *out == (plan.StrategySettings{}) {
		return nil
	}
	return out
}
