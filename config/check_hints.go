package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config/convert"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/usage/prometheus"
)

// minTTL is the least allowed TTL of a hint. Evenkeel may look for expired hints only once in this time.
const minTTL = 10 * time.Second

func checkHints(c *Config, d *strict.Decoder) {
	h := &c.Hints
	if h.Label != "" {
		checkHintMark(d, "hints.label", h.Label)
		if !strings.Contains(h.Label, "=") {
			d.Errorf("hints.label", "%q has no value (want KEY=VALUE, such as %s=true)", h.Label, pressure.Key)
		}
	}
	if h.Taint != "" {
		checkHintKey(d, "hints.taint", h.Taint)
	}
	for i, text := range h.Former {
		checkHintMark(d, fmt.Sprintf("hints.former[%d]", i), text)
	}
	checkFraction(d, "hints.maxHintedFrac", h.MaxHintedFrac)
	if h.TTL < Duration(minTTL) {
		d.Errorf("hints.ttl", "%s is too short: Evenkeel could not renew the hint in time (want %s or more)", h.TTL, Duration(minTTL))
	}
	checkHintRules(c, d)
	if h.Enabled {
		checkEnabledHints(c, d)
	}
}

// checkEnabledHints checks settings that matter only if hints are enabled.
func checkEnabledHints(c *Config, d *strict.Decoder) {
	h := &c.Hints
	if h.Label == "" && h.Taint == "" {
		d.Errorf("hints.enabled", "neither a label nor a taint is set (want hints.label, or hints.taint)")
	}
	if len(h.Rules) == 0 && h.RulesFile == "" {
		d.Errorf("hints.enabled", "there are no rules (want hints.rules, such as [{name: cpu, resource: cpu, above: 0.80}])")
	}
	switch {
	case c.Load.Source == SourceRequests:
		d.Errorf("hints.enabled", "load.source is requests, which measures no usage (want metricsServer, prometheus or loadWatcher)")
	case c.Load.Source != SourcePrometheus && h.RulesFile != "":
		d.Errorf("hints.rulesFile", "its rules are PromQL queries, which load.source: %s cannot answer (want prometheus)", c.Load.Source)
	}
	if least := 2 * c.Load.Interval; h.TTL < least && h.TTL >= Duration(minTTL) {
		d.Errorf("hints.ttl", "%s is less than twice load.interval, %s: hints would expire between samples (want %s or more)", h.TTL,
			c.Load.Interval, least)
	}
	for i, r := range h.Rules {
		path := fmt.Sprintf("hints.rules[%d]", i)
		switch {
		case c.Load.Source == SourceRequests:
		case r.PromQL != "" && c.Load.Source != SourcePrometheus:
			d.Errorf(path+".promql", "load.source: %s cannot answer queries (want prometheus, or resource: cpu or memory)", c.Load.Source)
		case r.Resource == cluster.MemoryAvailable && unavailableMemory(c) != "":
			d.Errorf(path+".resource", "%s", unavailableMemory(c))
		}
	}
}

// checkHintKey rejects keys that belong to Kubernetes, and other keys with Evenkeel's prefix.
func checkHintKey(d *strict.Decoder, path, key string) {
	prefix, _, _ := strings.Cut(key, "/")
	switch {
	case len(validation.IsQualifiedName(key)) > 0:
		d.Errorf(path, "%q is not a valid key (want one such as %s)", key, pressure.Key)
	case prefix == "evenkeel.io" && key != pressure.Key:
		d.Errorf(path, "%s has another meaning, or none (want %s, or a key without this prefix)", key, pressure.Key)
	case prefix != key && (strings.HasSuffix("."+prefix, ".kubernetes.io") || strings.HasSuffix("."+prefix, ".k8s.io")):
		d.Errorf(path, "%s belongs to Kubernetes (want a key of your own, or %s)", key, pressure.Key)
	}
}

// checkHintMark checks a label (key=value) or the key of a taint.
func checkHintMark(d *strict.Decoder, path, text string) {
	key, value, isLabel := strings.Cut(text, "=")
	if isLabel && (value == "" || len(validation.IsValidLabelValue(value)) > 0) {
		d.Errorf(path, "%q is not a valid value of a label (want letters, digits, dashes, dots and underscores)", value)
		return
	}
	checkHintKey(d, path, key)
}

// checkHintRules checks the rules and sets c.pressureRules.
func checkHintRules(c *Config, d *strict.Decoder) {
	named := map[string]string{} // path of the rule with each name
	add := func(r HintRule, path, namePath string) {
		if other, twice := named[r.Name]; twice && r.Name != "" {
			d.Errorf(namePath, "%s already has the name %s", other, r.Name)
			return
		}
		named[r.Name] = path
		c.pressureRules = append(c.pressureRules, toPressureRule(r))
	}
	c.pressureRules = nil
	for i, r := range c.Hints.Rules {
		path := fmt.Sprintf("hints.rules[%d]", i)
		if !convert.IsRuleName(r.Name) {
			d.Errorf(path+".name", "%q is not a valid name of a rule (want letters, digits, dashes, dots and underscores, at most 63)", r.Name)
		}
		checkHintRuleResource(c, d, path, r)
		checkLevels(d, path, r)
		if r.For < 0 || r.For == 0 && d.Has(path+".for") {
			d.Errorf(path+".for", "%d is too small (want 1 or more consecutive samples)", r.For)
		}
		add(r, path, path+".name")
	}
	if c.Hints.RulesFile == "" {
		return
	}
	path, data, ok := readReferencedFile(c, d, "hints.rulesFile", c.Hints.RulesFile)
	if !ok {
		return
	}
	rules, err := convert.LoadRules(path, data, c.Load.Prometheus.NodeLabel)
	if err != nil {
		d.AddFileError(err)
		return
	}
	for _, r := range rules {
		add(HintRule{Name: r.Name, PromQL: r.Query, Above: &r.Threshold}, "hints.rulesFile", "hints.rulesFile")
	}
}

func checkHintRuleResource(c *Config, d *strict.Decoder, path string, r HintRule) {
	known := []string{"cpu", "memory", cluster.MemoryAvailable}
	for name := range c.Load.Prometheus.Queries {
		known = append(known, name)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	switch {
	case r.PromQL != "" && r.Resource != "":
		d.Errorf(path+".promql", "want either resource or promql")
	case r.PromQL != "":
		if err := convert.CheckQuery(r.PromQL, c.Load.Prometheus.NodeLabel); err != nil {
			d.Errorf(path+".promql", "%v", err)
		}
	case d.HasTypeError(path + ".promql"):
	case r.Resource == "":
		d.Errorf(path, "want resource (%s) or promql", strings.Join(known, ", "))
	case !slices.Contains(known, r.Resource):
		d.Errorf(path+".resource", "unknown resource %q%s (want one of %s, a key of load.prometheus.queries, or promql)", r.Resource,
			suggest.DidYouMean(r.Resource, known), strings.Join(known, ", "))
	}
}

// checkLevels checks the levels of a rule. Levels of cpu, memory and keys of load.prometheus.queries are fractions.
// Levels of memory.available are bytes. Levels of PromQL rules have the unit of the query.
func checkLevels(d *strict.Decoder, path string, r HintRule) {
	name, own := "above", r.Above
	if r.Below != nil {
		name, own = "below", r.Below
	}
	switch {
	case d.HasTypeError(path+".above") || d.HasTypeError(path+".below"):
		return
	case own == nil:
		d.Errorf(path, "want above or below")
		return
	case r.Above != nil && r.Below != nil:
		d.Errorf(path, "want either above or below; for both levels write two rules")
		return
	}
	level, clear := *own, r.Clear
	if r.Resource != "" && r.Resource != cluster.MemoryAvailable {
		checkFraction(d, path+"."+name, level)
		if clear != nil {
			checkFraction(d, path+".clear", *clear)
		}
	}
	if r.Resource == cluster.MemoryAvailable && level < 1<<20 {
		d.Errorf(path+"."+name, "%s is less than a MiB (want bytes, such as 1073741824 for 1 GiB)", strict.FormatNumber(level))
	}
	if clear != nil && (r.Below == nil && *clear > level || r.Below != nil && *clear < level) {
		d.Errorf(path+".clear", "%s is on the wrong side of %s: %s (want the other side; otherwise the hint would flap)",
			strict.FormatNumber(*clear), name, strict.FormatNumber(level))
	}
}

// clearMargin is how far the value must be back inside the level, as a fraction of the level, before a hint of a rule
// without clear is removed.
const clearMargin = 0.1

// toPressureRule converts a rule, and fills in the defaults.
func toPressureRule(r HintRule) pressure.Rule {
	out := pressure.Rule{Name: r.Name, Resource: r.Resource, Query: r.PromQL, MinSamples: cmp.Or(r.For, 1)}
	if out.Query != "" {
		out.Resource = cluster.HintRulePrefix + r.Name // the result of the query is a resource of its own
	}
	level, sign := r.Above, -1.0
	if r.Below != nil {
		level, sign, out.Below = r.Below, 1, true
	}
	if level == nil {
		return out
	}
	out.Enter, out.Leave = *level, *level+sign*math.Abs(*level)*clearMargin
	if r.Clear != nil {
		out.Leave = *r.Clear
	}
	return out
}

// unavailableMemory says that the usage source does not measure memory.available, with a remedy. It
// returns "" if the source does: with metricsServer, with an explicit query, or with the memory
// query of the Prometheus preset kubelet. It also returns "" for an unknown source or preset, which
// other checks report.
func unavailableMemory(c *Config) string {
	const query = "load.prometheus.queries: {memory.available: ...}"
	p := c.Load.Prometheus
	_, own := p.Queries[cluster.MemoryAvailable]
	_, replaced := p.Queries["memory"]
	switch {
	case c.Load.Source == SourceLoadWatcher:
		return "load.source: loadWatcher does not measure memory.available (want metricsServer; or prometheus with preset: kubelet or " + query + ")"
	case c.Load.Source != SourcePrometheus || own || !slices.Contains(prometheus.Presets(), prometheus.Preset(p.Preset)):
		return ""
	case p.Preset != string(prometheus.Kubelet):
		return fmt.Sprintf("load.source: prometheus with preset: %s does not measure memory.available (want load.prometheus.preset: kubelet, or %s)", p.Preset, query)
	case replaced:
		return "load.source: prometheus with your own query for memory does not measure memory.available (want " + query + ")"
	}
	return ""
}
