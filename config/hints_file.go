package config

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// ruleFile is dynamicScheduler's rule.yaml. A node is hot when any value is above
// its threshold.
type ruleFile struct {
	// PromJob names the job for people; the queries name it themselves.
	PromJob  ruleJob             `json:"PromJob"`
	Rulename map[string]fileRule `json:"Rulename"`
}

type ruleJob struct {
	Name string `json:"Name"`
}

// fileRule has its threshold as text, for both 70 and "70" are written.
type fileRule struct {
	Promsql   string `json:"Promsql"`
	Threshold string `json:"Threshold"`
}

// loadRuleFile reads a rule.yaml, strictly. Its program takes a threshold that is
// missing, or misspelt, for 0, which makes every node hot.
func loadRuleFile(name string, data []byte, nodeLabel string) (*ruleFile, error) {
	root, err := parseRuleFile(name, data)
	if err != nil {
		return nil, err
	}
	f := &ruleFile{}
	e := &decoder{file: name, nodes: map[string]*yaml.Node{}, hasTypeError: map[string]bool{}}
	e.decode(root, f)
	if len(f.Rulename) == 0 && len(e.errors) == 0 {
		e.fieldError("Rulename", "is missing, or has no rules (want Rulename: {NAME: {Promsql: ..., Threshold: 70}})")
	}
	for rule, r := range f.Rulename {
		path := "Rulename." + rule
		if !isRuleName(rule) {
			e.fieldError(path, "%q cannot name a rule (want letters, digits, dashes, dots and underscores, at most 63)", rule)
		}
		if e.nodes[path+".Promsql"] == nil {
			e.fieldError(path+".Promsql", "is missing (want a query)")
		} else if err := checkQuery(r.Promsql, nodeLabel); err != nil {
			e.fieldError(path+".Promsql", "%v", err)
		}
		if e.nodes[path+".Threshold"] == nil {
			e.fieldError(path+".Threshold", "is missing (want the number that must be exceeded, in the unit of the query)")
		} else if _, ok := parseThreshold(r.Threshold); !ok {
			e.fieldError(path+".Threshold", "%q is not a number (want what must be exceeded, in the unit of the query, without a sign for it)", r.Threshold)
		}
	}
	return f, e.err()
}

// parseRuleFile is parse, which shows of an empty file what one looks like.
func parseRuleFile(name string, data []byte) (*yaml.Node, error) {
	root, err := parse(name, data)
	if errors.Is(err, errEmpty) {
		return nil, fmt.Errorf("%s: %w; want Rulename: {NAME: {Promsql: ..., Threshold: 70}}", name, errEmpty)
	}
	return root, err
}

func parseThreshold(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// rules are those of a file that was accepted, by name.
func (f *ruleFile) rules() []HintRule {
	var out []HintRule
	for _, name := range slices.Sorted(maps.Keys(f.Rulename)) {
		r := f.Rulename[name]
		v, _ := parseThreshold(r.Threshold)
		out = append(out, HintRule{Name: name, PromQL: r.Promsql, Above: &v})
	}
	return out
}
