package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/internal/strict"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Options are settings that a rule.yaml does not contain.
type Options struct {
	// PrometheusURL is the address of Prometheus. If the address is empty, a comment in the result asks the user to
	// fill in the address.
	PrometheusURL string
	// NodeLabel is the label of query results that contains the name of the node.
	NodeLabel string
}

// ToConfig converts dynamicScheduler's rule.yaml to a config.yaml with comments. For other known kinds of files, the
// error recommends another command.
func ToConfig(name string, data []byte, o Options) (string, error) {
	root, err := parseRuleFile(name, data)
	if err != nil {
		return "", err
	}
	has := func(key string) string { return scalarAt(root, key) }
	switch version := has("apiVersion"); {
	case has("Rulename") != "" || has("PromJob") != "":
		return convertRules(name, data, o)
	case strings.HasPrefix(version, "descheduler/"):
		return "", fmt.Errorf("%s: converting a %s (%s) is not built yet in this version", name, has("kind"), version)
	case version == plan.APIVersion:
		return "", fmt.Errorf("%s: this is a %s of Evenkeel; `evenkeel config check` checks it", name, has("kind"))
	case has("kind") == "Policy" || has("priorities") != "" || has("predicates") != "":
		return "", fmt.Errorf("%s: this is a scheduler Policy; `evenkeel config scheduler --from-policy %s` converts it", name, name)
	}
	return "", fmt.Errorf("%s: this kind of file cannot be converted (want dynamicScheduler's rule.yaml, which has Rulename)", name)
}

// scalarAt returns the scalar value of a key of a mapping, "there" for a value of another type, or "" if the key is
// missing.
func scalarAt(root *yaml.Node, key string) string {
	if root.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			if v := root.Content[i+1]; v.Kind == yaml.ScalarNode && v.Value != "" {
				return v.Value
			}
			return "there"
		}
	}
	return ""
}

// convertedHeader is the beginning of the converted file. The header explains what stays the same as in
// dynamicScheduler, and what changes.
const convertedHeader = `# Made by ` + "`evenkeel config convert`" + ` from dynamicScheduler's %s.
# The same as before: a node is hot if a query returns more than its threshold, in the
# unit of the query. Hot nodes have the label. GET /status and GET /nodes still work.
# Different: a node stays hot until its value is clearMargin below the threshold. At most
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
  label: {key: status, value: presure}
  maxHintedFrac: 0.34           # dynamicScheduler has no limit, which is 1
  ttl: 10m
  for: 1                        # samples in a row
  clearMargin: 0.1              # dynamicScheduler has none, which is 0
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
	fmt.Fprintf(&out, convertedHeader, baseName(name), quoteYAML(o.PrometheusURL), todo)
	for _, r := range rules {
		fmt.Fprintf(&out, "  - name: %s\n    promql: %s\n    above: %s\n", schedulerconfig.QuoteIfNeeded(r.Name), quoteYAML(r.Query), strict.FormatNumber(r.Threshold))
	}
	out.WriteString("strategies: []                  # dynamicScheduler evicts nothing; for strategies see config default\n")
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

// quoteYAML returns text as a YAML string on one line.
func quoteYAML(text string) string {
	b, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text})
	if err != nil || slices.Contains(b[:len(b)-1], '\n') {
		return strconv.Quote(text) // yaml.Marshal folds long lines; a quoted Go string is valid YAML too
	}
	return strings.TrimSpace(string(b))
}
