package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/controller/schedule"
	"github.com/evenkeel-project/evenkeel/plan"
)

// strategyRuleWarnings report rules of strategies that have no effect beside the global ones, or that contradict them.
func strategyRuleWarnings(c *Config) []string {
	var out []string
	for _, s := range c.Strategies {
		out = slices.Concat(out, argumentWarnings(c, s), looserLimitWarnings(c, s.path(), s.Limits), scopeWarnings(c, s.path(), s))
	}
	return out
}

// argumentWarnings report arguments of a strategy that are valid but probably mistakes.
func argumentWarnings(c *Config, s Strategy) (out []string) {
	i := slices.IndexFunc(c.scheduled, func(x schedule.Strategy) bool { return x.Name == s.Name })
	if i < 0 {
		return nil
	}
	for _, e := range c.scheduled[i].Strategy.Warnings {
		out = append(out, s.path()+".args."+e.Error())
	}
	return out
}

// windowLimitWarnings report limits of allow windows that are looser than the global ones, which hold too.
func windowLimitWarnings(c *Config) []string {
	var out []string
	for i, w := range c.Windows.Allow {
		out = append(out, looserLimitWarnings(c, fmt.Sprintf("windows.allow[%d]", i), w.Limits)...)
	}
	return out
}

// looserLimitWarnings report limits of a strategy or a window that are looser than the global ones, which hold too.
func looserLimitWarnings(c *Config, path string, own *plan.OwnLimits) []string {
	var out []string
	for _, x := range c.limits(own) {
		if x.own != nil && isLooser(*x.own, *x.global) {
			out = append(out, fmt.Sprintf("%s.limits.%s: %s has no effect, because limits.%s: %s also holds (want less, or leave the key out)",
				path, x.key, x.own, x.key, x.global))
		}
	}
	return out
}

// isLooser reports whether a limit permits at least as much as another one for every number of pods, and more for some.
// A limit above the number of pods permits all of them.
func isLooser(own, global plan.CountLimit) bool {
	const manyPods = 1_000_000_000 // the limit of each share differs from that of the next one
	for pods := range 1000 {       // a share is stricter than a number for few pods, if at all
		if min(own.For(pods), pods) < min(global.For(pods), pods) {
			return false
		}
	}
	return own.For(manyPods) > global.For(manyPods) && global.For(manyPods) > 0 // 0 has a warning of its own
}

// scopeWarnings report a scope of a strategy that contradicts the global one, or excludes what is excluded anyway.
func scopeWarnings(c *Config, path string, s Strategy) []string {
	var out []string
	compare := func(key, own, globalKey, global string) {
		if by := contradictingKey(own, global); by != "" {
			out = append(out, fmt.Sprintf("%s.%s: %q and %s %q require different values of %s: the scope of strategy %s is empty",
				path, key, own, globalKey, global, by, s.Name))
		}
	}
	compare("nodeSelector", s.NodeSelector, "the global nodeSelector", c.NodeSelector)
	compare("podSelector", s.PodSelector, "guards.podSelector", c.Guards.PodSelector)
	n := s.Namespaces
	if n == nil {
		return out
	}
	compare("namespaces.selector", n.Selector, "the global namespaces.selector", c.Namespaces.Selector)
	overlap := func(include []string, name string) bool {
		return len(include) == 0 || cluster.ListsNamespace(include, name) ||
			slices.ContainsFunc(include, func(in string) bool { return cluster.ListsNamespace([]string{name}, in) })
	}
	for i, name := range n.Exclude {
		switch at := fmt.Sprintf("%s.namespaces.exclude[%d]", path, i); {
		case cluster.ListsNamespace(c.Namespaces.Exclude, name):
			out = append(out, fmt.Sprintf("%s: %s has no effect, because the global namespaces.exclude lists it too", at, name))
		case !overlap(c.Namespaces.Include, name):
			out = append(out, fmt.Sprintf("%s: %s has no effect, because it is out of the global scope: namespaces.include is [%s]", at, name,
				strings.Join(c.Namespaces.Include, ", ")))
		case !overlap(n.Include, name):
			out = append(out, fmt.Sprintf("%s: %s has no effect, because namespaces.include of the strategy is [%s]", at, name,
				strings.Join(n.Include, ", ")))
		}
	}
	return out
}

// contradictingKey returns the label for which two selectors require values that exclude each other, or "".
func contradictingKey(a, b string) string {
	first, second := requiredValues(a), requiredValues(b)
	for _, key := range slices.Sorted(maps.Keys(first)) {
		if values, both := second[key]; both && first[key].Intersection(values).Len() == 0 {
			return key
		}
	}
	return ""
}

// requiredValues returns the values that a selector allows, by label. It skips labels for which any value may do.
func requiredValues(selector string) map[string]sets.Set[string] {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return nil
	}
	out := map[string]sets.Set[string]{}
	requirements, _ := parsed.Requirements()
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			values := sets.New(r.ValuesUnsorted()...)
			if before, twice := out[r.Key()]; twice {
				values = values.Intersection(before)
			}
			out[r.Key()] = values
		}
	}
	return out
}
