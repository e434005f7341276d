package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ConvertOptions are what a foreign configuration does not say.
type ConvertOptions struct {
	// PrometheusURL is where queries are asked; empty leaves it to be filled in.
	PrometheusURL string
}

// Convert makes a configuration from another program's: dynamicScheduler's rule.yaml.
// Others are told by their kind, and the error says what to do with them. The text is
// a commented config.yaml.
func Convert(name string, data []byte, o ConvertOptions) (string, error) {
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
	case version == Version:
		return "", fmt.Errorf("%s: this is a %s already; `evenkeel config check` checks it", name, has("kind"))
	case has("kind") == "Policy" || has("priorities") != "" || has("predicates") != "":
		return "", fmt.Errorf("%s: this is a scheduler Policy; `evenkeel config scheduler --from-policy %s` converts it", name, name)
	}
	return "", fmt.Errorf("%s: not a file that can be converted (want dynamicScheduler's rule.yaml, which has Rulename)", name)
}

// scalarAt is the scalar under a key of a mapping; of anything else a mark that it is
// there.
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

// convertedHeader says what is kept and what is not.
const convertedHeader = `# Made by ` + "`evenkeel config convert`" + ` from dynamicScheduler's %s.
# As there: a node is hot when a query gives more than its threshold, in whatever unit
# the query has; hot nodes carry the label, and GET /status and /nodes answer.
# Otherwise: a node stays hot until it is clearMargin below the threshold; not more
# than maxHintedFrac of the nodes carry the label, the hottest; when Prometheus is down
# labels stay for ttl and then go; a label that somebody else wrote is left alone.
# Nodes are looked at every load.interval, 30s (there 10 s), and /status, /nodes and
# /metrics are on port 8080 (there 9000).
# What dynamicScheduler wrote is somebody else's, too, and stays for ever. So stop it,
# and take its labels away, before this labels nodes (dryRun: false):
#   kubectl label nodes -l status=presure status-
apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: true                    # says which nodes would be labelled; false labels them
load:
  source: prometheus
  prometheus:
    url: %s%s
hints:
  enabled: true
  label: {key: status, value: presure}
  maxHintedFrac: 0.34           # it had no such limit: 1
  ttl: 10m
  for: 1                        # samples in a row
  clearMargin: 0.1              # it had none: 0
  rules:
`

func convertRules(name string, data []byte, o ConvertOptions) (string, error) {
	f, err := loadRuleFile(name, data, defaultLoad().Prometheus.NodeLabel)
	if err != nil {
		return "", err
	}
	todo := ""
	if o.PrometheusURL == "" {
		todo = "                     # fill in what stood after -prom"
	}
	var out strings.Builder
	fmt.Fprintf(&out, convertedHeader, baseName(name), quoteYAML(o.PrometheusURL), todo)
	for _, r := range f.rules() {
		fmt.Fprintf(&out, "  - name: %s\n    promql: %s\n    above: %s\n", quoteIfNeeded(r.Name), quoteYAML(r.PromQL), formatNumber(*r.Above))
	}
	out.WriteString("strategies: []                  # it evicted nothing; see config default\n")
	return out.String(), nil
}

// baseName is the name of a file without its folders, as one line.
func baseName(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || !strconv.IsPrint(r) })
	if len(parts) == 0 {
		return "rule.yaml"
	}
	return parts[len(parts)-1]
}

// quoteYAML is text as YAML takes it on one line.
func quoteYAML(text string) string {
	b, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text})
	if err != nil || slices.Contains(b[:len(b)-1], '\n') {
		return strconv.Quote(text) // YAML folds long lines; JSON's form is YAML, too
	}
	return strings.TrimSpace(string(b))
}
