package descheduler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/plan"
)

// strategy is one strategy of the configuration.
type strategy struct {
	c                 *conversion
	profile           *profileModel
	plugin, path      string // path of the plugin's arguments in the policy
	name, kind        string
	args              []yamlEntry
	namespaces        namespaces
	namespaceSelector string
	podSelector       string
	guards            []yamlEntry
	landing           plan.LandingRule // empty: required
	notes             []Note
}

func (s *strategy) arg(key, value string) { s.args = append(s.args, yamlEntry{key, value}) }

// argIf adds an argument unless it has its default.
func (s *strategy) argIf(set bool, key, value string) {
	if set {
		s.arg(key, value)
	}
}

// note records what differs for a field of the plugin.
func (s *strategy) note(field, format string, args ...any) {
	n := Note{Profile: s.profile.name, Plugin: s.plugin, Field: field, Text: fmt.Sprintf(format, args...)}
	s.notes = append(s.notes, n)
	s.c.findings.notes = append(s.c.findings.notes, n)
}

// fail adds an error about a field of the plugin.
func (s *strategy) fail(field, format string, args ...any) {
	s.c.findings.fail(s.at(field), format, args...)
}

// at returns the path of a field. In the format v1alpha1, two fields are beside the arguments of the strategy.
func (s *strategy) at(field string) string {
	if rest, ok := strings.CutPrefix(field, "evictableNamespaces"); ok && s.c.doc.old != nil {
		field = "namespaces" + rest
	}
	if s.c.doc.old != nil && (strings.HasPrefix(field, "namespaces") || field == "labelSelector") {
		return strings.TrimSuffix(s.path, argsKey[s.plugin]) + "." + field
	}
	return s.path + "." + field
}

// hasErrors reports whether an argument of the plugin has an error.
func (s *strategy) hasErrors() bool { return s.c.doc.d.HasErrors(s.c.doc.policyPath + s.path) }

// limitPerNode lowers the global limits.perNode, because a strategy has none of its own.
func (s *strategy) limitPerNode(most int) {
	i := slices.IndexFunc(s.c.limits, func(e yamlEntry) bool { return e.key == "perNode" })
	if n, err := strconv.Atoi(s.c.limits[i].value); err != nil || most < n {
		s.c.limits[i].value = strconv.Itoa(most)
	}
	s.note("evictionLimits.node", "became limits.perNode, which holds for the moves of all strategies together; the least of several applies")
}

// sibling adds a second strategy for the same plugin, with the same settings, and a suffix in its name.
func (s *strategy) sibling(suffix string) *strategy {
	other := *s
	other.name, other.notes = s.c.strategyName(s.profile, s.kind+suffix), nil
	other.args = slices.Clone(s.args)
	s.c.strategies = append(s.c.strategies, &other)
	return &other
}

// scope converts namespaces and labelSelector of a plugin.
func (s *strategy) scope(n *namespaces, sel *metav1.LabelSelector) {
	s.selectNamespaces("namespaces", n)
	s.podSelector = joinSelectors(s.podSelector, s.c.findings.selector(s.at("labelSelector"), sel))
}

func (s *strategy) selectNamespaces(field string, n *namespaces) {
	if n == nil {
		return
	}
	if len(n.Include) > 0 && len(n.Exclude) > 0 {
		s.fail(field, "include and exclude are both set, which the descheduler rejects (want one of them)")
	}
	for _, list := range [...]struct {
		key   string
		names []string
	}{{"include", n.Include}, {"exclude", n.Exclude}} {
		for i, name := range list.names {
			if len(validation.IsDNS1123Label(name)) > 0 {
				s.fail(fmt.Sprintf("%s.%s[%d]", field, list.key, i), "%q is not the name of a namespace", name)
			}
		}
	}
	s.namespaces = *n
}

// evictableNamespaces converts the argument of the plugins about utilization, which permits only exclude.
func (s *strategy) evictableNamespaces(n *namespaces) {
	if n != nil && len(n.Include) > 0 {
		s.fail("evictableNamespaces.include", "only exclude is possible, as in the descheduler")
	}
	s.selectNamespaces("evictableNamespaces", n)
}

func joinSelectors(a, b string) string {
	return strings.Join(slices.DeleteFunc([]string{a, b}, func(s string) bool { return s == "" }), ",")
}

// origin names the plugin that the strategy replaces.
func (s *strategy) origin() string {
	if s.profile.name == "" {
		return s.plugin + "."
	}
	return "Profile " + s.profile.name + ": " + s.plugin + "."
}

func (s *strategy) namespaceEntries() (out []yamlEntry) {
	if len(s.namespaces.Include) > 0 {
		out = append(out, yamlEntry{"include", flowList(s.namespaces.Include)})
	}
	if len(s.namespaces.Exclude) > 0 {
		out = append(out, yamlEntry{"exclude", flowList(s.namespaces.Exclude)})
	}
	if s.namespaceSelector != "" {
		out = append(out, yamlEntry{"selector", strconv.Quote(s.namespaceSelector)})
	}
	return out
}
