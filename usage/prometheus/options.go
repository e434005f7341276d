package prometheus

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/promql"
)

// Options say whom to ask, and what.
type Options struct {
	// URL is the address, to which /api/v1/query is added.
	URL    string
	Preset Preset
	// RateWindow is what the preset takes rates over.
	RateWindow time.Duration
	// Queries are of nodes, by resource: ratios of capacity for cpu and memory, bytes
	// for memory.available, ratios for anything else. They replace the preset's or
	// add to it.
	Queries map[string]string
	// PodQueries are of pods: cpu in cores and memory in bytes, with the labels
	// namespace and pod. An empty one asks nothing.
	PodQueries map[string]string
	// Rules are of nodes, by name: any number. They are in a sample as rule:NAME.
	Rules map[string]string
	// Freshness are queries for when a node was measured, in Unix seconds, by
	// resource or rule:NAME. Without one, a query of the user's is asked whether its
	// metrics came through a Pushgateway, and when.
	Freshness map[string]string
	// NodeLabel is the label that names the node.
	NodeLabel string
	// Timeout is for each query.
	Timeout time.Duration
	// MaxAge is the age of a measurement that is still used.
	MaxAge time.Duration
	// Client talks to the server; see package fetch.
	Client *http.Client
	Now    func() time.Time
}

// OptionError is what is wrong with one option.
type OptionError struct {
	// Path is such as queries.cpu.
	Path, Message string
}

// Check reads every query, and says what is wrong, in order of path.
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
			add(path, "gives percent (want a ratio, 0..1; leave out the 100)")
		}
	}
	if !validLabel(o.NodeLabel) {
		add("nodeLabel", "%q is not the name of a label (want one such as instance or node)", o.NodeLabel)
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(o.Freshness)) {
		if _, ok := o.userQueries()[name]; !ok {
			add("freshness."+name, "there is no query for %s", name)
		}
		query("freshness."+name, o.Freshness[name], false, o.NodeLabel)
	}
	for _, name := range slices.Sorted(maps.Keys(o.PodQueries)) {
		if name != "cpu" && name != "memory" {
			add("podQueries."+name, "unknown resource of pods (want cpu or memory)")
		} else if o.PodQueries[name] != "" {
			query("podQueries."+name, o.PodQueries[name], false, "namespace", "pod")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Queries)) {
		if len(validation.IsQualifiedName(name)) > 0 {
			add("queries."+name, "%q cannot name a resource (want letters, digits, dots and dashes, such as disk)", name)
		}
		query("queries."+name, o.Queries[name], name != cluster.MemoryAvailable, o.NodeLabel)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Rules)) {
		query("rules."+name, o.Rules[name], false, o.NodeLabel)
	}
	return out
}

// validLabel is the form that label names have without quotes.
func validLabel(name string) bool {
	for i, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// userQueries are the queries of users, by resource or rule:NAME.
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

// MeasuredResources are the resources of nodes that are asked for, without rules; sorted.
func (o Options) MeasuredResources() []string {
	out := slices.Collect(maps.Keys(o.Queries))
	for _, a := range o.Preset.nodeQueries() {
		out = append(out, a.resource)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// QueriesPods says whether anything is asked about pods.
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

// allQueries are all there is to ask, nodes first; what is to be asked about freshness
// is filled in.
func (o Options) allQueries() ([]metricQuery, error) {
	if m := o.Check(); len(m) > 0 {
		return nil, fmt.Errorf("%s: %s", m[0].Path, m[0].Message)
	}
	own := o.userQueries()
	var out []metricQuery
	for _, a := range o.Preset.nodeQueries() {
		if _, replaced := own[a.resource]; !replaced {
			a.text, a.timeQuery = fillPreset(a.text, o.NodeLabel, o.RateWindow), fillPreset(a.timeQuery, o.NodeLabel, o.RateWindow)
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
			a.text = fillPreset(a.text, o.NodeLabel, o.RateWindow)
			out = append(out, a)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.PodQueries)) {
		if text := strings.TrimSpace(o.PodQueries[name]); text != "" {
			unit := usage.Cores
			if name == "memory" {
				unit = usage.Bytes
			}
			out = append(out, metricQuery{resource: name, text: text, unit: unit, ofPods: true})
		}
	}
	return out, nil
}
