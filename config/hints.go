package config

import (
	"math"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// Hints are pressure labels and taints on nodes.
type Hints struct {
	Enabled       bool      `json:"enabled"`
	Label         HintLabel `json:"label"`
	Taint         HintTaint `json:"taint"`
	MaxHintedFrac float64   `json:"maxHintedFrac"`
	TTL           Duration  `json:"ttl"`
	// SkipTaints are keys: nodes with such a taint that keeps pods off have no hint.
	SkipTaints []string `json:"skipTaints"`
	// For and ClearMargin are for rules that do not say: how many samples in a row,
	// and how far inside its level a rule lets go, as a share of it.
	For         int        `json:"for"`
	ClearMargin float64    `json:"clearMargin"`
	Rules       []HintRule `json:"rules"`
	// RulesFile has more rules, in the form of dynamicScheduler's rule.yaml.
	RulesFile string `json:"rulesFile"`
}

// HintLabel is the label of a hinted node; without a key there is none.
type HintLabel struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// HintTaint is the taint of a hinted node.
type HintTaint struct {
	Enabled bool   `json:"enabled"`
	Key     string `json:"key"`
}

// HintRule says when a node is under pressure.
type HintRule struct {
	Name       string   `json:"name"`
	Resource   string   `json:"resource,omitempty"`
	PromQL     string   `json:"promql,omitempty"`
	Above      *float64 `json:"above,omitempty"`
	Below      *float64 `json:"below,omitempty"`
	ClearAbove *float64 `json:"clearAbove,omitempty"`
	ClearBelow *float64 `json:"clearBelow,omitempty"`
	For        int      `json:"for,omitempty"`
}

func defaultHints() Hints {
	return Hints{
		Label: HintLabel{pressure.Key, "true"}, Taint: HintTaint{false, pressure.Key},
		MaxHintedFrac: 0.34, TTL: Duration(10 * time.Minute),
		SkipTaints: []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"},
		For:        1, ClearMargin: 0.1, Rules: []HintRule{},
	}
}

// HintRules are the rules of a configuration that Load accepted, also those of
// rulesFile: each is a level to watch (Watch is its name), and one with a query a
// resource to ask for. Empty where hints are not enabled.
func (c *Config) HintRules() []pressure.Rule {
	if !c.Hints.Enabled {
		return nil
	}
	return slices.Clone(c.pressureRules)
}

// PressureOptions says which nodes are hinted, and how.
func (c *Config) PressureOptions() pressure.Options {
	h := c.Hints
	o := pressure.Options{MaxHintedFrac: h.MaxHintedFrac, TTL: time.Duration(h.TTL), Rules: c.HintRules(), Scope: parseSelector(c.NodeSelector), SkipTaints: h.SkipTaints}
	if h.Label.Key != "" {
		o.Label = h.Label.Key + "=" + h.Label.Value
	}
	if h.Taint.Enabled {
		o.Taint = h.Taint.Key
	}
	return o
}

// WritesHints reports whether nodes are to be written for hints.
func (c *Config) WritesHints() bool { return c.Hints.Enabled && !c.DryRun }

// hasQueries reports whether rules have queries of their own.
func (h Hints) hasQueries() bool {
	return h.Enabled && (h.RulesFile != "" || slices.ContainsFunc(h.Rules, func(r HintRule) bool { return r.PromQL != "" }))
}

// pressureRule is a rule with what applies where it does not say.
func (h Hints) pressureRule(r HintRule) pressure.Rule {
	out := pressure.Rule{Name: r.Name, Resource: r.Resource, Query: r.PromQL, MinSamples: r.For}
	if out.Query != "" {
		out.Resource = cluster.HintRulePrefix + r.Name // a resource of its own
	}
	if out.MinSamples == 0 {
		out.MinSamples = h.For
	}
	level, clear, sign := r.Above, r.ClearBelow, -1.0
	if r.Below != nil {
		level, clear, sign, out.Below = r.Below, r.ClearAbove, 1, true
	}
	if level == nil {
		return out
	}
	out.Enter, out.Leave = *level, *level+sign*math.Abs(*level)*h.ClearMargin
	if clear != nil {
		out.Leave = *clear
	}
	return out
}
