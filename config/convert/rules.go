package convert

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/usage/promql"
)

// Options are settings that a rule.yaml does not contain.
type Options struct {
	// PrometheusURL is the address of Prometheus. If it is empty, the result contains a placeholder.
	PrometheusURL string
	// NodeLabel is the label of query results that contains the name of the node.
	NodeLabel string
}

// ToConfig converts dynamicScheduler's rule.yaml to a config.yaml with comments.
func ToConfig(name string, data []byte, o Options) (string, error) {
	root, err := parseRuleFile(name, data)
	if err != nil {
		return "", err
	}
	top := map[string]string{} // text of each top-level key
	if root.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(root.Content); i += 2 {
			top[root.Content[i].Value] = root.Content[i+1].Value
		}
	}
	has := func(key string) bool { _, ok := top[key]; return ok }
	switch version := top["apiVersion"]; {
	case has("Rulename") || has("PromJob"):
		return convertRules(name, data, o)
	case version == plan.APIVersion:
		return "", fmt.Errorf("%s: this is a %s of Evenkeel; `evenkeel config check` checks it", name, top["kind"])
	case top["kind"] == "Policy" || has("priorities") || has("predicates"):
		return "", fmt.Errorf("%s: this is a scheduler Policy; `evenkeel config scheduler --from-policy %s` converts it", name, name)
	}
	return "", fmt.Errorf("%s: this kind of file cannot be converted (want a RebalanceConfig with a list of strategies, a DeschedulerPolicy, the values of its chart, or dynamicScheduler's rule.yaml, which has Rulename)", name)
}

// convertedHeader is the beginning of the converted file, with the differences from dynamicScheduler.
const convertedHeader = `# Made by ` + "`evenkeel config convert`" + ` from dynamicScheduler's %s.
# The same as before: a node is hot if a query returns more than its threshold, in the
# unit of the query. Hot nodes have the label. GET /status and GET /nodes still work.
# Different: a node stays hot until its value is 10%% below the threshold. At most
# maxHintedFrac of the nodes have the label, the hottest first. If Prometheus is down,
# Evenkeel removes a label after ttl. It does not change labels that others wrote.
# It checks nodes every load.interval, 30s (before: 10s), and serves /status, /nodes and
# /metrics on port 8080 (before: 9000).
# Evenkeel never removes labels that dynamicScheduler wrote. Stop dynamicScheduler and
# remove its labels before you set dryRun: false:
#   kubectl label nodes -l status=presure status-
apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: true                    # only reports which nodes it would label; false labels them
load:
  source: prometheus
  prometheus:
    url: %s%s
hints:
  enabled: true
  label: status=presure
  maxHintedFrac: 0.34           # dynamicScheduler has no limit, which is 1
  ttl: 10m
  rules:
`

func convertRules(name string, data []byte, o Options) (string, error) {
	rules, err := LoadRules(name, data, o.NodeLabel)
	if err != nil {
		return "", err
	}
	todo := ""
	if o.PrometheusURL == "" {
		todo = "                     # fill in the address that followed -prom"
	}
	var out strings.Builder
	fmt.Fprintf(&out, convertedHeader, baseName(name), strconv.Quote(o.PrometheusURL), todo)
	for _, r := range rules {
		fmt.Fprintf(&out, "  - name: %s\n    promql: %s\n    above: %s\n", schedulerconfig.QuoteIfNeeded(r.Name), strconv.Quote(r.Query), strict.FormatNumber(r.Threshold))
	}
	out.WriteString("preset: []\nstrategies: {}                  # dynamicScheduler evicts nothing; for strategies see config default\n")
	return out.String(), nil
}

// baseName returns the name of a file without its directories, on one line.
func baseName(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || !strconv.IsPrint(r) })
	if len(parts) == 0 {
		return "rule.yaml"
	}
	return parts[len(parts)-1]
}

// ruleFile is dynamicScheduler's rule.yaml.
type ruleFile struct {
	// PromJob is informational, because the queries contain the job name, too.
	PromJob struct {
		Name string `json:"Name"`
	} `json:"PromJob"`
	Rulename map[string]ruleEntry `json:"Rulename"`
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
// The threshold is required; dynamicScheduler uses 0 without it, which makes every node hot.
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
	var out []Rule
	for _, rule := range slices.Sorted(maps.Keys(f.Rulename)) {
		r, path := f.Rulename[rule], "Rulename."+rule
		if !IsRuleName(rule) {
			d.Errorf(path, "%q is not a valid name of a rule (want letters, digits, dashes, dots and underscores, at most 63)", rule)
		}
		if !d.Has(path + ".Promsql") {
			d.Errorf(path+".Promsql", "is missing (want a query)")
		} else if err := CheckQuery(r.Promsql, nodeLabel); err != nil {
			d.Errorf(path+".Promsql", "%v", err)
		}
		threshold, err := strconv.ParseFloat(r.Threshold, 64)
		if !d.Has(path + ".Threshold") {
			d.Errorf(path+".Threshold", "is missing (want the number that must be exceeded, in the unit of the query)")
		} else if err != nil || math.IsNaN(threshold) || math.IsInf(threshold, 0) {
			d.Errorf(path+".Threshold", "%q is not a number (want the number that must be exceeded, in the unit of the query, without the unit)", r.Threshold)
		}
		out = append(out, Rule{Name: rule, Query: r.Promsql, Threshold: threshold})
	}
	return out, d.Err()
}

// parseRuleFile parses a rule.yaml. If the file is empty, the error contains an example.
func parseRuleFile(name string, data []byte) (*yaml.Node, error) {
	root, err := strict.Parse(name, data)
	if errors.Is(err, strict.ErrEmpty) {
		return nil, fmt.Errorf("%w; want Rulename: {NAME: {Promsql: ..., Threshold: 70}}", err)
	}
	return root, err
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
