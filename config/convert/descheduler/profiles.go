package descheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/internal/suggest"
)

// profileModel is a profile of either format.
type profileModel struct {
	name string
	// evictorPath is the path of the arguments of DefaultEvictor, or of the profile if it has none.
	evictorPath string
	evictor     evictorArgs
	uses        []pluginUse
	guards      guardSet
}

// pluginUse is an enabled plugin with its arguments.
type pluginUse struct {
	name, path string
	args       pluginArgs
}

// longestGracePeriod is the longest grace period of evictions in seconds, because passes wait for evicted pods.
const longestGracePeriod = 24 * 60 * 60

// checkTopLevel converts the settings outside the profiles.
func (c *conversion) checkTopLevel() {
	p := c.doc.policy
	if c.doc.values == nil && c.doc.kind == "" {
		c.findings.note("top", Note{Field: "kind", Text: "is missing; the file was converted as a DeschedulerPolicy"})
	}
	if p.NodeSelector != nil {
		if _, err := labels.Parse(*p.NodeSelector); err != nil {
			c.findings.fail("nodeSelector", "%q is not a label selector: %v", *p.NodeSelector, err)
		}
	}
	for _, l := range []struct {
		key, field string
		n          *int
	}{
		{"perPass", "maxNoOfPodsToEvictTotal", p.MaxNoOfPodsToEvictTotal},
		{"perNode", "maxNoOfPodsToEvictPerNode", p.MaxNoOfPodsToEvictPerNode},
		{"perNamespace", "maxNoOfPodsToEvictPerNamespace", p.MaxNoOfPodsToEvictPerNamespace},
	} {
		value := unlimited
		if l.n != nil {
			value = fmt.Sprint(*l.n)
			c.findings.checkNotNegative(l.field, *l.n)
		}
		c.limits = append(c.limits, yamlEntry{l.key, value})
	}
	if g := p.GracePeriodSeconds; g != nil {
		c.findings.checkNotNegative("gracePeriodSeconds", *g)
		if *g > longestGracePeriod {
			c.findings.fail("gracePeriodSeconds", "%d is longer than Evenkeel permits (want at most %d, a day)", *g, longestGracePeriod)
		}
		if *g == 0 {
			c.findings.note("evictor", Note{Field: "gracePeriodSeconds",
				Text: "0 deletes pods by force, so that two pods of a StatefulSet can run at once. Evenkeel's least value is 1"})
		}
	}
	if e := p.EvictionFailureEventNotification; e != nil && *e {
		c.findings.note("evictor", Note{Field: "evictionFailureEventNotification",
			Text: "no setting: Evenkeel always writes an event for an eviction that failed, and the report lists it"})
	}
	if p.Tracing != nil {
		c.findings.note("top", Note{Field: "tracing", Text: "no counterpart; the descheduler 0.36 does not read it either"})
	}
	c.checkProviders()
}

// readProfiles decodes the profiles of the format v1alpha2.
func (c *conversion) readProfiles() {
	names := map[string]bool{}
	for i, p := range c.doc.policy.Profiles {
		path := fmt.Sprintf("profiles[%d]", i)
		if names[p.Name] {
			c.findings.fail(path+".name", "another profile has the same name")
		}
		names[p.Name] = true
		c.profiles = append(c.profiles, c.readProfile(p, path))
	}
	if len(c.doc.policy.Profiles) == 0 {
		c.findings.note("strategies", Note{Field: "profiles", Text: "the policy has no profiles, so the descheduler does nothing"})
	}
}

func (c *conversion) readProfile(p profile, path string) *profileModel {
	m := &profileModel{name: p.Name, evictorPath: path}
	configs := map[string]string{} // path of the arguments by plugin
	for j, pc := range p.PluginConfig {
		at := fmt.Sprintf("%s.pluginConfig[%d]", path, j)
		_, known := plugins[pc.Name]
		switch {
		case configs[pc.Name] != "":
			c.findings.fail(at+".name", "the profile configures this plugin twice, and the descheduler reads only the first one")
		case pc.Name == defaultEvictor:
			m.evictorPath = at + ".args"
			c.findings.decodeArgs(pc.Args, m.evictorPath, &m.evictor)
		case !known:
			c.findings.fail(at+".name", "unknown plugin%s; a plugin that is not part of the descheduler has no counterpart",
				suggest.DidYouMean(pc.Name, slices.Collect(maps.Keys(plugins))))
		}
		configs[pc.Name] = cmp.Or(configs[pc.Name], at+".args")
	}
	c.checkExtensionPoints(p, path)
	for _, e := range [...]struct {
		point   extensionPoint
		enabled []string
	}{{deschedule, p.Plugins.Deschedule.Enabled}, {balance, p.Plugins.Balance.Enabled}} {
		for k, name := range e.enabled {
			if use, ok := c.readPlugin(p, name, e.point, configs, fmt.Sprintf("%s.plugins.%s.enabled[%d]", path, e.point, k)); ok {
				m.uses = append(m.uses, use)
			}
		}
	}
	c.noteUnused(p, m)
	return m
}

// readPlugin decodes the arguments of an enabled plugin. at is the path of its name in the list of enabled plugins.
func (c *conversion) readPlugin(p profile, name string, point extensionPoint, configs map[string]string, at string) (pluginUse, bool) {
	kind, known := plugins[name]
	argsPath := configs[name]
	switch {
	case !known:
		c.findings.fail(at, "unknown plugin %q%s; a plugin that is not part of the descheduler has no counterpart", name,
			suggest.DidYouMean(name, slices.Collect(maps.Keys(plugins))))
		return pluginUse{}, false
	case kind.point != point:
		c.findings.fail(at, "%s is a plugin for %s, so the descheduler rejects it here", name, kind.point)
		return pluginUse{}, false
	case argsPath == "":
		c.findings.fail(at, "%s is not in pluginConfig, so the descheduler does not start", name)
		return pluginUse{}, false
	}
	use := pluginUse{name: name, path: argsPath, args: kind.newArgs()}
	for _, pc := range p.PluginConfig {
		if pc.Name == name {
			c.findings.decodeArgs(pc.Args, argsPath, use.args)
			break
		}
	}
	return use, true
}

// checkExtensionPoints reports plugins at other extension points, and lists that the descheduler never reads.
func (c *conversion) checkExtensionPoints(p profile, path string) {
	for _, e := range [...]struct {
		name string
		set  pluginSet
	}{{"filter", p.Plugins.Filter}, {"preevictionfilter", p.Plugins.PreEvictionFilter}} {
		for k, name := range e.set.Enabled {
			if name != defaultEvictor {
				c.findings.fail(fmt.Sprintf("%s.plugins.%s.enabled[%d]", path, e.name, k), "%s is not a plugin for this extension point", name)
			}
		}
	}
	var ignored []string
	for _, e := range [...]struct {
		name  string
		names []string
	}{
		{"presort.enabled", p.Plugins.PreSort.Enabled}, {"presort.disabled", p.Plugins.PreSort.Disabled},
		{"sort.enabled", p.Plugins.Sort.Enabled}, {"sort.disabled", p.Plugins.Sort.Disabled},
		{"deschedule.disabled", p.Plugins.Deschedule.Disabled}, {"balance.disabled", p.Plugins.Balance.Disabled},
		{"filter.disabled", p.Plugins.Filter.Disabled}, {"preevictionfilter.disabled", p.Plugins.PreEvictionFilter.Disabled},
	} {
		if len(e.names) > 0 {
			ignored = append(ignored, e.name)
		}
	}
	for _, name := range ignored {
		c.findings.note("strategies", Note{Profile: p.Name, Field: "plugins." + name, Text: "no counterpart; the descheduler does not read this list"})
	}
}

// noteUnused names the plugins that have arguments but are not enabled.
func (c *conversion) noteUnused(p profile, m *profileModel) {
	for _, pc := range p.PluginConfig {
		if _, known := plugins[pc.Name]; known && !slices.ContainsFunc(m.uses, func(u pluginUse) bool { return u.name == pc.Name }) {
			c.findings.note("strategies", Note{Profile: p.Name, Plugin: pc.Name,
				Text: "not converted, because the profile does not enable the plugin"})
		}
	}
}

// convertPlugin adds the strategy that replaces an enabled plugin.
func (c *conversion) convertPlugin(p *profileModel, use pluginUse) {
	s := &strategy{c: c, profile: p, plugin: use.name, path: use.path, kind: plugins[use.name].strategy}
	s.name = c.strategyName(p, s.kind)
	c.strategies = append(c.strategies, s)
	s.addOwnGuards()
	use.args.convert(s)
}

// strategyName returns a new name, such as node-load, or gold-node-load for one of several profiles.
func (c *conversion) strategyName(p *profileModel, kind string) string {
	base := kebabCase(kind)
	if len(c.profiles) > 1 && c.doc.old == nil {
		base = strings.Trim(labelOf(p.name)+"-"+base, "-")
	}
	const maxLength = 60 // leaves room for a number
	base = strings.Trim(base[max(0, len(base)-maxLength):], "-")
	name := base
	for n := 2; slices.ContainsFunc(c.strategies, func(s *strategy) bool { return s.name == name }); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}
