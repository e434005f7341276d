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

// Mistake is what is wrong with one option.
type Mistake struct {
	// Path is such as queries.cpu.
	Path, Message string
}

// Check reads every query, and says what is wrong, in order of path.
func (o Options) Check() []Mistake {
	var out []Mistake
	add := func(path, format string, args ...any) {
		out = append(out, Mistake{path, fmt.Sprintf(format, args...)})
	}
	query := func(path, text string, ratio bool, labels ...string) {
		q, err := promql.Parse(text)
		if err == nil {
			err = q.Keeps(labels...)
		}
		switch {
		case err != nil:
			add(path, "%v", err)
		case ratio && q.Percent():
			add(path, "gives percent (want a ratio, 0..1; leave out the 100)")
		}
	}
	if !validLabel(o.NodeLabel) {
		add("nodeLabel", "%q is not the name of a label (want one such as instance or node)", o.NodeLabel)
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(o.Freshness)) {
		if _, ok := o.asked()[name]; !ok {
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

// asked are the queries of users, by resource or rule:NAME.
func (o Options) asked() map[string]ask {
	out := map[string]ask{}
	for name, text := range o.Queries {
		unit := usage.Fraction
		switch name {
		case "cpu", "memory":
			unit = usage.Share
		case cluster.MemoryAvailable:
			unit = usage.Bytes
		}
		out[name] = ask{resource: name, promql: text, unit: unit}
	}
	for name, text := range o.Rules {
		out[cluster.RulePrefix+name] = ask{resource: cluster.RulePrefix + name, promql: text, unit: usage.Number}
	}
	return out
}

// Measures are the resources of nodes that are asked for, without rules; sorted.
func (o Options) Measures() []string {
	out := slices.Collect(maps.Keys(o.Queries))
	for _, a := range o.Preset.asks() {
		out = append(out, a.resource)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AsksPods says whether anything is asked about pods.
func (o Options) AsksPods() bool {
	for _, a := range o.Preset.podAsks() {
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

// asks are all there is to ask, nodes first; what is to be asked about freshness
// is filled in.
func (o Options) asks() ([]ask, error) {
	if m := o.Check(); len(m) > 0 {
		return nil, fmt.Errorf("%s: %s", m[0].Path, m[0].Message)
	}
	own := o.asked()
	var out []ask
	for _, a := range o.Preset.asks() {
		if _, replaced := own[a.resource]; !replaced {
			a.promql, a.freshness = fill(a.promql, o.NodeLabel, o.RateWindow), fill(a.freshness, o.NodeLabel, o.RateWindow)
			out = append(out, a)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		a := own[name]
		if a.freshness, a.dated = o.Freshness[name], true; a.freshness == "" {
			q, err := promql.Parse(a.promql)
			if err != nil {
				return nil, err
			}
			a.freshness, a.dated = q.Pushed(o.NodeLabel), false
		}
		out = append(out, a)
	}
	for _, a := range o.Preset.podAsks() {
		if _, replaced := o.PodQueries[a.resource]; !replaced {
			a.promql = fill(a.promql, o.NodeLabel, o.RateWindow)
			out = append(out, a)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.PodQueries)) {
		if text := strings.TrimSpace(o.PodQueries[name]); text != "" {
			unit := usage.Cores
			if name == "memory" {
				unit = usage.Bytes
			}
			out = append(out, ask{resource: name, promql: text, unit: unit, pods: true})
		}
	}
	return out, nil
}
