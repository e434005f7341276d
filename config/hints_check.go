package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/suggest"
	"github.com/evenkeel-project/evenkeel/usage/promql"
)

// minTTL is as long as a look for hints that have expired may take to come.
const minTTL = 10 * time.Second

func (c *Config) checkHints(e *decoder) {
	h := &c.Hints
	if h.Label.Key != "" {
		checkHintKey(e, "hints.label.key", h.Label.Key)
		if h.Label.Value == "" || len(validation.IsValidLabelValue(h.Label.Value)) > 0 {
			e.fieldError("hints.label.value", "%q is not the value of a label (want letters, digits, dashes, dots and underscores)", h.Label.Value)
		}
	}
	checkHintKey(e, "hints.taint.key", h.Taint.Key)
	for i, key := range h.SkipTaints {
		if len(validation.IsQualifiedName(key)) > 0 {
			e.fieldError(fmt.Sprintf("hints.skipTaints[%d]", i), "%q is not the key of a taint (such as node-role.kubernetes.io/control-plane)", key)
		}
	}
	checkFraction(e, "hints.maxHintedFrac", h.MaxHintedFrac)
	if h.TTL < Duration(minTTL) {
		e.fieldError("hints.ttl", "%s is too short to be renewed in time (want %s or more)", h.TTL, Duration(minTTL))
	}
	if h.For < 1 {
		e.fieldError("hints.for", "%d is too small (want 1 or more samples in a row)", h.For)
	}
	if h.ClearMargin != 0 {
		checkFraction(e, "hints.clearMargin", h.ClearMargin)
	}
	c.checkHintRules(e)
	if h.Enabled {
		c.checkEnabledHints(e)
	}
}

// checkEnabledHints checks what only matters where hints are wanted.
func (c *Config) checkEnabledHints(e *decoder) {
	h := &c.Hints
	if h.Label.Key == "" && !h.Taint.Enabled {
		e.fieldError("hints.enabled", "there is nothing to put on nodes (want hints.label.key, or hints.taint.enabled: true)")
	}
	if len(h.Rules) == 0 && h.RulesFile == "" {
		e.fieldError("hints.enabled", "there are no rules (want hints.rules, such as [{name: cpu, resource: cpu, above: 0.80}])")
	}
	switch {
	case c.Load.Source == SourceRequests:
		e.fieldError("hints.enabled", "load.source is requests: nothing is measured (want metricsServer, prometheus or loadWatcher)")
	case c.Load.Source != SourcePrometheus && h.RulesFile != "":
		e.fieldError("hints.rulesFile", "its rules are queries, which load.source: %s cannot answer (want prometheus)", c.Load.Source)
	}
	if least := 2 * c.Load.Interval; h.TTL < least && h.TTL >= Duration(minTTL) {
		e.fieldError("hints.ttl", "%s is over before load.interval, %s, has come twice: hints would come and go (want %s or more)", h.TTL, c.Load.Interval, least)
	}
	for i, r := range h.Rules {
		path := fmt.Sprintf("hints.rules[%d]", i)
		switch {
		case c.Load.Source == SourceRequests:
		case r.PromQL != "" && c.Load.Source != SourcePrometheus:
			e.fieldError(path+".promql", "load.source: %s cannot answer it (want prometheus, or resource: cpu or memory)", c.Load.Source)
		case r.Resource == cluster.MemoryAvailable && !c.measuresAvailableMemory():
			e.fieldError(path+".resource", "%s", c.availableMemoryRemedy())
		}
	}
}

// checkHintKey: labels and taints of others are not for us to write, and under our own
// prefix every key has one meaning.
func checkHintKey(e *decoder, path, key string) {
	prefix, _, _ := strings.Cut(key, "/")
	switch {
	case len(validation.IsQualifiedName(key)) > 0:
		e.fieldError(path, "%q is not a key (such as %s)", key, pressure.Key)
	case prefix == "evenkeel.io" && key != pressure.Key:
		e.fieldError(path, "%s means something else, or nothing (want %s, or a key without this prefix)", key, pressure.Key)
	case prefix != key && (strings.HasSuffix("."+prefix, ".kubernetes.io") || strings.HasSuffix("."+prefix, ".k8s.io")):
		e.fieldError(path, "%s belongs to Kubernetes (want a key of your own, or %s)", key, pressure.Key)
	}
}

// checkHintRules checks the rules and makes them what they are used as.
func (c *Config) checkHintRules(e *decoder) {
	names := map[string]string{}
	add := func(r pressure.Rule, path string) string {
		if first, twice := names[r.Name]; twice && r.Name != "" {
			return first
		}
		names[r.Name] = path
		c.pressureRules = append(c.pressureRules, r)
		return ""
	}
	c.pressureRules = nil
	for i, r := range c.Hints.Rules {
		path := fmt.Sprintf("hints.rules[%d]", i)
		if !isRuleName(r.Name) {
			e.fieldError(path+".name", "%q cannot name a rule (want letters, digits, dashes, dots and underscores, at most 63)", r.Name)
		}
		c.checkHintRuleResource(e, path, r)
		checkLevels(e, path, r)
		if r.For < 0 || r.For == 0 && e.nodes[path+".for"] != nil {
			e.fieldError(path+".for", "%d is too small (want 1 or more samples in a row)", r.For)
		}
		if first := add(c.Hints.pressureRule(r), path); first != "" {
			e.fieldError(path+".name", "%s is the name of %s already", r.Name, first)
		}
	}
	if c.Hints.RulesFile == "" {
		return
	}
	path, data, ok := c.readReferencedFile(e, "hints.rulesFile", c.Hints.RulesFile)
	if !ok {
		return
	}
	file, err := loadRuleFile(path, data, c.Load.Prometheus.NodeLabel)
	if err != nil {
		e.fileErrors = append(e.fileErrors, err)
		return
	}
	for _, r := range file.rules() {
		if first := add(c.Hints.pressureRule(r), "hints.rulesFile"); first != "" {
			e.fieldError("hints.rulesFile", "%s is the name of %s already", r.Name, first)
		}
	}
}

func isRuleName(name string) bool { return name != "" && len(validation.IsValidLabelValue(name)) == 0 }

// checkHintRuleResource checks what a rule compares.
func (c *Config) checkHintRuleResource(e *decoder, path string, r HintRule) {
	known := []string{"cpu", "memory", cluster.MemoryAvailable}
	for name := range c.Load.Prometheus.Queries {
		known = append(known, name)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	switch {
	case r.PromQL != "" && r.Resource != "":
		e.fieldError(path+".promql", "want either resource or promql")
	case r.PromQL != "":
		if err := checkQuery(r.PromQL, c.Load.Prometheus.NodeLabel); err != nil {
			e.fieldError(path+".promql", "%v", err)
		}
	case e.hasTypeError[path+".promql"]:
	case r.Resource == "":
		e.fieldError(path, "want resource (%s) or promql", strings.Join(known, ", "))
	case !slices.Contains(known, r.Resource):
		e.fieldError(path+".resource", "unknown resource %q%s (want one of %s, a key of load.prometheus.queries, or promql)", r.Resource, suggest.DidYouMean(r.Resource, known), strings.Join(known, ", "))
	}
}

func checkQuery(text, nodeLabel string) error {
	q, err := promql.Parse(text)
	if err != nil {
		return err
	}
	return q.CheckLabels(nodeLabel)
}

// checkLevels checks the levels of a rule. Those of cpu and memory are fractions of
// allocatable, and those of queries of load.prometheus ratios; of memory.available
// they are bytes, and of promql whatever is measured.
func checkLevels(e *decoder, path string, r HintRule) {
	own, other := ruleLevel{"above", "clearBelow", r.Above, r.ClearBelow}, ruleLevel{"below", "clearAbove", r.Below, r.ClearAbove}
	if r.Below != nil {
		own, other = other, own
	}
	switch {
	case e.hasTypeError[path+".above"] || e.hasTypeError[path+".below"]:
		return
	case own.level == nil:
		e.fieldError(path, "want above or below")
		return
	case other.level != nil:
		e.fieldError(path, "want either above or below; for both write two rules")
		return
	case other.clear != nil:
		e.fieldError(path, "%s goes with %s", other.clearName, other.name)
	}
	level, clear := *own.level, own.clear
	if r.Resource != "" && r.Resource != cluster.MemoryAvailable {
		checkFraction(e, path+"."+own.name, level)
		if clear != nil {
			checkFraction(e, path+"."+own.clearName, *clear)
		}
	}
	if r.Resource == cluster.MemoryAvailable && level < 1<<20 {
		e.fieldError(path+"."+own.name, "%s is less than a MiB (want bytes, such as 1073741824 for 1 GiB)", formatNumber(level))
	}
	if clear != nil && (r.Below == nil && *clear > level || r.Below != nil && *clear < level) {
		e.fieldError(path+"."+own.clearName, "%s is beyond %s: %s already (want it on the other side, so that the hint does not come and go)", formatNumber(*clear), own.name, formatNumber(level))
	}
}

// ruleLevel are the two of a rule, with the names of their keys.
type ruleLevel struct {
	name, clearName string
	level, clear    *float64
}
