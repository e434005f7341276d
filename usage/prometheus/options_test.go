package prometheus

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/usage/promql"
)

// TestPresetsArePromQL checks that presets are valid with any label, and query both cpu and memory.
func TestPresetsArePromQL(t *testing.T) {
	for _, p := range Presets() {
		for _, label := range []string{"instance", "node"} {
			o := Options{Preset: p, NodeLabel: label, RateWindow: 90 * time.Second}
			asks := must.Get(o.allQueries())(t)
			if want := map[Preset]int{None: 0}; p != None && len(asks) != 4 || p == None && len(asks) != want[p] {
				t.Errorf("%s: %d queries", p, len(asks))
			}
			for _, a := range asks {
				q, err := promql.Parse(a.text)
				if err != nil {
					t.Fatalf("%s: %s: %v", p, a.text, err)
				}
				keeps := []string{label}
				if a.ofPods {
					keeps = []string{"namespace", "pod"}
				} else if f, err := promql.Parse(a.timeQuery); err != nil || f.CheckLabels(label) != nil {
					t.Errorf("%s: %s: %v", p, a.timeQuery, err)
				}
				if err := q.CheckLabels(keeps...); err != nil {
					t.Errorf("%s: %s: %v", p, a.text, err)
				}
				if strings.Contains(a.text, "(L") || strings.Contains(a.text, "[W]") || strings.Contains(a.text, "rate(") &&
					!strings.Contains(a.text, "[90s]") {
					t.Errorf("%s: %s still contains a placeholder", p, a.text)
				}
			}
		}
	}
}

// TestPresetsMergeNoTargets checks that a query about nodes keeps every label of the target. A second target that
// reports the node then makes the value ambiguous, instead of replacing it.
func TestPresetsMergeNoTargets(t *testing.T) {
	for _, p := range Presets() {
		queries := must.Get(Options{Preset: p, NodeLabel: "instance", RateWindow: time.Minute}.allQueries())(t)
		for _, a := range queries {
			q := must.Get(promql.Parse(a.text))(t)
			if err := q.CheckLabels("instance", "job", "pod"); err != nil && !a.ofPods {
				t.Errorf("preset %s, %s: %v", p, a.resource, err)
			}
		}
	}
}

// TestPresetsSelectTheJob checks that every selector of a preset has the configured job, and none by default.
func TestPresetsSelectTheJob(t *testing.T) {
	selector := regexp.MustCompile(`[a-z_:]+(_bytes|_total|:ratio)({[^}]*})?`)
	for _, p := range Presets() {
		for _, job := range []string{"", `node-exporter|a"b\d`} {
			queries := must.Get(Options{Preset: p, NodeLabel: "instance", RateWindow: time.Minute, Job: job}.allQueries())(t)
			for _, a := range queries {
				for _, s := range selector.FindAllString(a.text+a.timeQuery, -1) {
					if got := strings.Contains(s, `job=~"node-exporter|a\"b\\d"`); got != (job != "") || strings.Contains(s, "J") {
						t.Errorf("preset %s, job %q: %s", p, job, s)
					}
				}
				if _, err := promql.Parse(a.text); err != nil {
					t.Errorf("preset %s, job %q: %v", p, job, err)
				}
			}
		}
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	o := Options{NodeLabel: "instance",
		Queries: map[string]string{"cpu": "sum(x)", "memory": "x * 100", "disk": "rate(", cluster.MemoryAvailable: "x * 100",
			"a b": "x", "net": "1"},
		PodQueries: map[string]string{"cpu": "sum by (pod) (x)", "disk": "100 * x", "memory": "", "gpu": "x",
			cluster.MemoryAvailable: "x"},
		Rules:     map[string]string{"hot": "100 * x", "cold": "scalar(x)"},
		Freshness: map[string]string{"cpu": "sum(x)", "rule:hot": "x", "gone": "x"}}
	want := []OptionError{
		{"freshness.cpu", "its values lack the label instance, which must identify them: sum by () drops it"},
		{"freshness.gone", "no query is set for gone"},
		{"podQueries.cpu", "its values lack the label namespace, which must identify them: sum by (pod) drops it"},
		{"podQueries.disk", "returns a percentage (want a ratio, 0..1; leave out the 100)"},
		{"podQueries.gpu", "the values of pods are shares of that of their node, and queries.gpu does not exist (want it too, or cpu or memory)"},
		{"podQueries.memory.available", "is free memory of a node, of which pods have no share (want memory)"},
		{"queries.a b", `"a b" is not a valid resource name (want letters, digits, dots and dashes, such as disk)`},
		{"queries.cpu", "its values lack the label instance, which must identify them: sum by () drops it"},
		{"queries.disk", "is not PromQL: 1:6: unclosed left parenthesis"},
		{"queries.memory", "returns a percentage (want a ratio, 0..1; leave out the 100)"},
		{"queries.net", "returns a scalar (want an instant vector: one value per node or pod)"},
		{"rules.cold", "returns a scalar (want an instant vector: one value per node or pod)"},
	}
	if d := cmp.Diff(want, o.Check()); d != "" {
		t.Error(d)
	}
	if got := (Options{NodeLabel: "instance", Job: "a("}).Check(); len(got) != 1 || got[0].Path != "job" {
		t.Errorf("%v", got)
	}
	if got := (Options{NodeLabel: "a-b"}).Check(); len(got) != 1 || got[0].Path != "nodeLabel" {
		t.Errorf("%v", got)
	}
	if _, err := New(Options{NodeLabel: "instance", Preset: None, PodQueries: map[string]string{"cpu": "x"}}); err == nil {
		t.Error("New accepted options without a query about nodes")
	}
	if _, err := New(Options{NodeLabel: "instance", Preset: Kubelet, URL: "http://me:hunter2@\x00"}); err == nil ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

// TestPodRatios checks which resources of pods the queries measure, and that their number is bounded.
func TestPodRatios(t *testing.T) {
	o := Options{NodeLabel: "instance", Preset: Kubelet, Queries: map[string]string{}, PodQueries: map[string]string{"memory": ""}}
	for i := range MaxPodRatios {
		name := fmt.Sprintf("disk-%d", i)
		o.Queries[name], o.PodQueries[name] = "x", "x"
	}
	if errs := o.Check(); len(errs) > 0 {
		t.Error(errs)
	}
	if got := o.MeasuredPodResources(); len(got) != MaxPodRatios+1 || got[0] != "cpu" || got[1] != "disk-0" {
		t.Errorf("the queries measure %v of pods", got)
	}
	o.Queries["net"], o.PodQueries["net"] = "x", "x"
	if errs := o.Check(); len(errs) != 1 || errs[0].Path != "podQueries.net" {
		t.Errorf("%v, want an error about the ninth resource", errs)
	}
	if got := (Options{NodeLabel: "instance", Preset: None, Queries: map[string]string{"disk": "x"}}).MeasuredPodResources(); got != nil {
		t.Errorf("without queries about pods: %v", got)
	}
}
