package convert

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/usage/promql"
)

// ruleFile is dynamicScheduler's rule.yaml. dynamicScheduler labels a node as hot if the value of any rule is above
// its threshold.
type ruleFile struct {
	// PromJob is informational: the queries contain the job name, too.
	PromJob  ruleJob             `json:"PromJob"`
	Rulename map[string]ruleEntry `json:"Rulename"`
}

type ruleJob struct {
	Name string `json:"Name"`
}

// ruleEntry is the YAML form of one rule. Threshold is text, because both 70 and "70" are common.
type ruleEntry struct {
	Promsql   string `json:"Promsql"`
	Threshold string `json:"Threshold"`
}

// Rule is one rule of a rule.yaml. dynamicScheduler labels a node as hot if the query returns more than Threshold, in
// the unit of the query.
type Rule struct {
	Name, Query string
	Threshold   float64
}

// LoadRules reads the rules of a rule.yaml, sorted by name. The result of each query must have the label nodeLabel.
// Each rule must have a threshold. (For a missing or misspelt threshold, dynamicScheduler uses 0, which makes every
// node hot.)
func LoadRules(name string, data []byte, nodeLabel string) ([]Rule, error) {
	root, err := parseRuleFile(name, data)
	if err != nil {
		return nil, err
	}
	f := &ruleFile{}
	d := strict.New(name, strict.Options{})
	d.Decode(root, f)
	if len(f.Rulename) == 0 && len(d.Errors()) == 0 {
		d.Errorf("Rulename", "is missing, or has no rules (want Rulename: {NAME: {Promsql: ..., Threshold: 70}})")
	}
	for rule, r := range f.Rulename {
		path := "Rulename." + rule
		if !IsRuleName(rule) {
			d.Errorf(path, "%q is not a valid name of a rule (want letters, digits, dashes, dots and underscores, at most 63)", rule)
		}
		if !d.Has(path + ".Promsql") {
			d.Errorf(path+".Promsql", "is missing (want a query)")
		} else if err := CheckQuery(r.Promsql, nodeLabel); err != nil {
			d.Errorf(path+".Promsql", "%v", err)
		}
		if !d.Has(path + ".Threshold") {
			d.Errorf(path+".Threshold", "is missing (want the number that must be exceeded, in the unit of the query)")
		} else if _, ok := parseThreshold(r.Threshold); !ok {
			d.Errorf(path+".Threshold", "%q is not a number (want the number that must be exceeded, in the unit of the query, without the unit)", r.Threshold)
		}
	}
	return f.rules(), d.Err()
}

// parseRuleFile parses a rule.yaml. If the file is empty, the error contains an example.
func parseRuleFile(name string, data []byte) (*yaml.Node, error) {
	root, err := strict.Parse(name, data)
	if errors.Is(err, strict.ErrEmpty) {
		return nil, fmt.Errorf("%w; want Rulename: {NAME: {Promsql: ..., Threshold: 70}}", err)
	}
	return root, err
}

func parseThreshold(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

func (f *ruleFile) rules() []Rule {
	var out []Rule
	for _, name := range slices.Sorted(maps.Keys(f.Rulename)) {
		r := f.Rulename[name]
		v, _ := parseThreshold(r.Threshold)
		out = append(out, Rule{Name: name, Query: r.Promsql, Threshold: v})
	}
	return out
}

// IsRuleName reports whether name is a valid rule name.
func IsRuleName(name string) bool { return name != "" && len(validation.IsValidLabelValue(name)) == 0 }

// CheckQuery returns an error if text is not a PromQL query, or if the result of the query lacks the label nodeLabel.
func CheckQuery(text, nodeLabel string) error {
	q, err := promql.Parse(text)
	if err != nil {
		return err
	}
	return q.CheckLabels(nodeLabel)
}
