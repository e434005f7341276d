package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/hints/pressure"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const prometheusConfig = minimalConfig + "load: {source: prometheus, prometheus: {url: http://prometheus:9090, preset: kubelet}}\n"

func loadConfig(t *testing.T, text string) *config.Config {
	t.Helper()
	c := must.Get(config.Load("config.yaml", []byte(text)))(t)
	return c
}

// TestLevelsOfRules checks explicit and default levels of hint rules.
func TestLevelsOfRules(t *testing.T) {
	c := loadConfig(t, prometheusConfig+`hints:
  enabled: true
  taint: evenkeel.io/pressure
  rules:
  - {name: cpu, resource: cpu, above: 0.80, clear: 0.70, for: 3}
  - {name: plain, resource: memory, above: 0.80}
  - {name: seventy, promql: "avg by (instance) (x) * 100", above: 70, clear: 60}
  - {name: negative, promql: "x", above: -10}
  - {name: available, resource: memory.available, below: 1073741824}
`)
	want := []pressure.Rule{
		{Name: "cpu", Resource: "cpu", Enter: 0.8, Leave: 0.7, MinSamples: 3},
		{Name: "plain", Resource: "memory", Enter: 0.8, Leave: 0.8 - 0.8*0.1, MinSamples: 1},
		{Name: "seventy", Resource: "rule:seventy", Query: "avg by (instance) (x) * 100", Enter: 70, Leave: 60, MinSamples: 1},
		{Name: "negative", Resource: "rule:negative", Query: "x", Enter: -10, Leave: -11, MinSamples: 1},
		{Name: "available", Resource: "memory.available", Enter: 1 << 30, Leave: (1 << 30) * 1.1, Below: true, MinSamples: 1},
	}
	if d := cmp.Diff(want, c.HintRules(), cmp.Comparer(nearlyEqual)); d != "" {
		t.Error(d)
	}
	o := c.PressureOptions()
	if o.Label != "evenkeel.io/pressure=true" || o.Taint != "evenkeel.io/pressure" || c.WritesHints() {
		t.Errorf("%+v, writes %t", o, c.WritesHints())
	}
	off := loadConfig(t, prometheusConfig+"hints: {rules: [{name: cpu, resource: cpu, above: 0.8}]}\n")
	if len(off.HintRules()) > 0 || len(off.PressureOptions().Rules) > 0 {
		t.Error("hints are disabled, but the options contain rules")
	}
}

func nearlyEqual(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }

const ruleYAML = `PromJob: {Name: "nodes"}
Rulename:
  Node_mem:
    Promsql: "(1 - (node_memory_MemAvailable_bytes{job='nodes'} / (node_memory_MemTotal_bytes{job='nodes'})))* 100"
    Threshold: "85"
  Node_cpu1:
    Promsql: "(1-(sum(increase(node_cpu_seconds_total{job='nodes',mode='idle'}[1m]))by(instance))/(sum(increase(node_cpu_seconds_total{job='nodes'}[1m]))by(instance)))*100"
    Threshold: 70
`

// TestRulesFile checks that thresholds of a rule.yaml keep the unit of their query. The file must be one of the
// ReferencedFiles and must change the hash.
func TestRulesFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	rules := write("rule.yaml", ruleYAML)
	file := write("config.yaml", prometheusConfig+"hints: {enabled: true, label: status=presure, rulesFile: rule.yaml}\n")
	c, err := config.LoadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := c.HintRules()
	if len(got) != 2 || got[0].Name != "Node_cpu1" || got[0].Enter != 70 || got[0].Leave != 63 || got[1].Enter != 85 || !strings.HasSuffix(got[1].Query, "* 100") {
		t.Errorf("%+v", got)
	}
	if d := cmp.Diff([]string{rules}, c.ReferencedFiles()); d != "" {
		t.Error(d)
	}
	write("rule.yaml", strings.Replace(ruleYAML, "70", "75", 1))
	again, err := config.LoadFile(file)
	if err != nil || again.Hash() == c.Hash() {
		t.Errorf("error %v; a changed threshold gives the same hash, want a different hash", err)
	}
}

// TestPromQLRulesNeedNoUsageQueries checks that a configuration with PromQL hint rules needs no
// queries for the usage of nodes and pods.
func TestPromQLRulesNeedNoUsageQueries(t *testing.T) {
	const head = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
load: {source: prometheus, prometheus: {url: "http://prometheus:9090", preset: none}}
`
	for hints, ok := range map[string]bool{
		`hints: {enabled: true, rules: [{name: a, promql: up, above: 1}]}`:      true,
		`hints: {enabled: false, rules: [{name: a, promql: up, above: 1}]}`:     false,
		`hints: {enabled: true, rules: [{name: a, resource: cpu, above: 0.5}]}`: false,
	} {
		if _, err := config.Load("c", []byte(head+hints)); (err == nil) != ok {
			t.Errorf("%s: %v", hints, err)
		}
	}
}

// TestExampleWithPrometheus edits the example for Prometheus as its comments say. The example must then be
// valid, but only with the preset.
func TestExampleWithPrometheus(t *testing.T) {
	text := must.Get(os.ReadFile("../examples/by-load.yaml"))(t)
	followed := regexp.MustCompile(`(?m)^  source: metricsServer.*$`).ReplaceAll(text, nil)
	followed = regexp.MustCompile(`(?m)^  # (source|prometheus): `).ReplaceAll(followed, []byte("  $1: "))
	c := loadConfig(t, string(followed))
	if c.Load.Source != config.SourcePrometheus || len(c.HintRules()) != 2 {
		t.Errorf("source %s, rules %v", c.Load.Source, c.HintRules())
	}
	without := bytes.Replace(followed, []byte(", preset: kubelet"), nil, 1)
	if _, err := config.Load("config.yaml", without); err == nil || !strings.Contains(err.Error(), "want load.prometheus.preset: kubelet, or load.prometheus.queries: {memory.available: ...}") {
		t.Errorf("without the preset: %v", err)
	}
}
