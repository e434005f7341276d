package config

import (
	"math"
	"slices"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
)

// HintRules returns the rules of hints.rules and hints.rulesFile. It returns no rules if hints are disabled.
func (c *Config) HintRules() []pressure.Rule {
	if !c.Hints.Enabled {
		return nil
	}
	return slices.Clone(c.pressureRules)
}

// PressureOptions returns the rules, the label and the taint of pressure hints.
func (c *Config) PressureOptions() pressure.Options {
	h := c.Hints
	o := pressure.Options{
		MaxHintedFrac: h.MaxHintedFrac, TTL: time.Duration(h.TTL), Rules: c.HintRules(),
		Scope: parseSelector(c.NodeSelector), SkipTaints: h.SkipTaints,
	}
	if h.Label.Key != "" {
		o.Label = h.Label.Key + "=" + h.Label.Value
	}
	if h.Taint.Enabled {
		o.Taint = h.Taint.Key
	}
	return o
}

// WritesHints reports whether Evenkeel writes pressure hints to nodes. A dry run does not.
func (c *Config) WritesHints() bool { return c.Hints.Enabled && !c.DryRun }

// hasQueries reports whether hints are enabled and at least one rule has a query.
func (h Hints) hasQueries() bool {
	return h.Enabled && (h.RulesFile != "" || slices.ContainsFunc(h.Rules, func(r HintRule) bool { return r.PromQL != "" }))
}

// toPressureRule converts a rule, and fills in the defaults.
func (h Hints) toPressureRule(r HintRule) pressure.Rule {
	out := pressure.Rule{Name: r.Name, Resource: r.Resource, Query: r.PromQL, MinSamples: r.For}
	if out.Query != "" {
		out.Resource = cluster.HintRulePrefix + r.Name // the result of the query is a resource of its own
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
