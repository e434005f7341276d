package prometheus

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/promql"
)

// Options selects the server and the queries.
type Options struct {
	// URL is the address of the server. The path /api/v1/query is appended.
	URL    string
	Preset Preset
	// RateWindow is the range of rate() in preset queries.
	RateWindow time.Duration
	// Job selects the jobs of preset queries, as a regular expression that matches the whole name.
	// Empty means all jobs.
	Job string
	// Queries maps resources to PromQL queries about nodes. The queries return ratios of capacity for cpu and
	// memory, bytes for memory.available, and ratios for any other resource. The queries replace the preset's
	// queries or add to them.
	Queries map[string]string
	// PodQueries are PromQL queries about pods, with the labels namespace and pod: cpu in cores, memory in bytes, and
	// any other resource in Queries as a ratio of the whole node. An empty query removes the query of the preset.
	PodQueries map[string]string
	// Rules maps rule names to PromQL queries about nodes that return any number. A sample stores
	// the value of a rule under rule:NAME.
	Rules map[string]string
	// Freshness maps a resource or rule:NAME to a query that returns when a node was measured,
	// in Unix seconds. For a user's query without an entry, the source checks when its metrics
	// were pushed to a Pushgateway, if at all.
	Freshness map[string]string
	// NodeLabel is the label that names the node.
	NodeLabel string
	// Timeout limits each query.
	Timeout time.Duration
	// MaxAge is the maximum age of a measurement.
	MaxAge time.Duration
	// Client sends the requests; see package fetch.
	Client *http.Client
	Now    func() time.Time
}

// OptionError describes an error in one option.
type OptionError struct {
	// Path names the option, such as queries.cpu.
	Path, Message string
}

// Check parses every query and returns the errors in order of path.
func (o Options) Check() []OptionError {
	var out []OptionError
	add := func(path, format string, args ...any) {
		out = append(out, OptionError{path, fmt.Sprintf(format, args...)})
	}
	query := func(path, text string, ratio bool, labels ...string) {
		q, err := promql.Parse(text)
		if err == nil {
			err = q.CheckLabels(labels...)
		}
		switch {
		case err != nil:
			add(path, "%v", err)
		case ratio && q.IsPercentage():
			add(path, "returns a percentage (want a ratio, 0..1; leave out the 100)")
		}
	}
	if !validLabel(o.NodeLabel) {
		add("nodeLabel", "%q is not a valid label name (want one such as instance or node)", o.NodeLabel)
		return out
	}
	if _, err := regexp.Compile(o.Job); err != nil {
		add("job", "is not a regular expression: %v (want one such as node-exporter|kubelet)", err)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Freshness)) {
		if _, ok := o.userQueries()[name]; !ok {
			add("freshness."+name, "no query is set for %s", name)
		}
		query("freshness."+name, o.Freshness[name], false, o.NodeLabel)
	}
	further := 0
	for _, name := range slices.Sorted(maps.Keys(o.PodQueries)) {
		path, ratio := "podQueries."+name, !isMainResource(name)
		_, ofNodes := o.Queries[name]
		if ratio {
			further++
		}
		switch {
		case name == cluster.MemoryAvailable:
			add(path, "is free memory of a node, of which pods have no share (want memory)")
		case ratio && !ofNodes:
			add(path, "the values of pods are shares of that of their node, and queries.%s does not exist (want it too, or cpu or memory)", name)
		case further > MaxPodRatios:
			add(path, "is one of more than %d resources besides cpu and memory; each one takes memory for every pod (want fewer)", MaxPodRatios)
		case ratio || o.PodQueries[name] != "":
			query(path, o.PodQueries[name], ratio, "namespace", "pod")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Queries)) {
		if len(validation.IsQualifiedName(name)) > 0 {
			add("queries."+name, "%q is not a valid resource name (want letters, digits, dots and dashes, such as disk)", name)
		}
		query("queries."+name, o.Queries[name], name != cluster.MemoryAvailable, o.NodeLabel)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Rules)) {
		query("rules."+name, o.Rules[name], false, o.NodeLabel)
	}
	return out
}

// validLabel reports whether a label name is valid without quotes.
func validLabel(name string) bool {
	for i, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// userQueries returns the queries in the options, by resource or rule:NAME.
func (o Options) userQueries() map[string]metricQuery {
	out := map[string]metricQuery{}
	for name, text := range o.Queries {
		unit := usage.Fraction
		switch name {
		case "cpu", "memory":
			unit = usage.Share
		case cluster.MemoryAvailable:
			unit = usage.Bytes
		}
		out[name] = metricQuery{resource: name, text: text, unit: unit}
	}
	for name, text := range o.Rules {
		out[cluster.HintRulePrefix+name] = metricQuery{resource: cluster.HintRulePrefix + name, text: text, unit: usage.Number}
	}
	return out
}

// MaxPodRatios is the largest number of resources of pods besides cpu and memory.
const MaxPodRatios = 8

// isMainResource reports whether the amounts of a resource are absolute, and not ratios of the node.
func isMainResource(name string) bool { return name == "cpu" || name == "memory" }

// MeasuredPodResources returns the resources of pods that the queries measure, sorted.
func (o Options) MeasuredPodResources() []string {
	queries, err := o.allQueries()
	if err != nil {
		return nil
	}
	var out []string
	for _, q := range queries {
		if q.ofPods {
			out = append(out, q.resource)
		}
	}
	slices.Sort(out)
	return out
}

// MeasuredResources returns the resources of nodes that the queries measure, sorted. Rules are not included.
func (o Options) MeasuredResources() []string {
	out := slices.Collect(maps.Keys(o.Queries))
	for _, a := range o.Preset.nodeQueries() {
		out = append(out, a.resource)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// QueriesPods reports whether any query measures pods.
func (o Options) QueriesPods() bool {
	for _, a := range o.Preset.podQueries() {
		if _, replaced := o.PodQueries[a.resource]; !replaced {
			return true
		}
	}
	for _, text := range o.PodQueries {
		if strings.TrimSpace(text) != "" {
			return true
		}
	}
	return false
}

// allQueries returns all queries with their time queries, node queries first.
func (o Options) allQueries() ([]metricQuery, error) {
	if m := o.Check(); len(m) > 0 {
		return nil, fmt.Errorf("%s: %s", m[0].Path, m[0].Message)
	}
	own := o.userQueries()
	var out []metricQuery
	for _, a := range o.Preset.nodeQueries() {
		if _, replaced := own[a.resource]; !replaced {
			a.text, a.timeQuery = o.fillPreset(a.text), o.fillPreset(a.timeQuery)
			out = append(out, a)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		a := own[name]
		if a.timeQuery, a.requireTime = o.Freshness[name], true; a.timeQuery == "" {
			q, err := promql.Parse(a.text)
			if err != nil {
				return nil, err
			}
			a.timeQuery, a.requireTime = q.PushTimeQuery(o.NodeLabel), false
		}
		out = append(out, a)
	}
	for _, a := range o.Preset.podQueries() {
		if _, replaced := o.PodQueries[a.resource]; !replaced {
			a.text = o.fillPreset(a.text)
			out = append(out, a)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.PodQueries)) {
		if text := strings.TrimSpace(o.PodQueries[name]); text != "" {
			unit := usage.Fraction
			switch name {
			case "cpu":
				unit = usage.Cores
			case "memory":
				unit = usage.Bytes
			}
			out = append(out, metricQuery{resource: name, text: text, unit: unit, ofPods: true})
		}
	}
	return out, nil
}
