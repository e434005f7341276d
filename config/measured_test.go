package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/load/window"
)

const measured = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
load: {source: metricsServer, interval: 15s, statistic: mean, window: 10m, maxAge: 2m}
strategies:
- {name: hot, type: NodeLoad, schedule: "@hourly", args: {basis: load, target: {memory: 0.7, cpu: 0.8}, for: 3}}
- {name: level, type: NodeLoad, schedule: "@hourly", args: {basis: load, deviation: {cpu: 0.05}, for: 2}}
- {name: once, type: NodeLoad, schedule: "@hourly", args: {basis: load, target: {cpu: 0.9}}}
`

func TestLoadWindows(t *testing.T) {
	c, err := config.Load("config.yaml", []byte(measured))
	if err != nil {
		t.Fatal(err)
	}
	want := window.Options{Source: "metricsServer", Statistic: window.Mean, Window: 10 * time.Minute, MaxAge: 2 * time.Minute, Interval: 15 * time.Second,
		Watches: []window.Watch{
			{Name: "hot", Resource: "cpu", Enter: 0.8, Leave: 0.8, For: 3}, {Name: "hot", Resource: "memory", Enter: 0.7, Leave: 0.7, For: 3},
			{Name: "level", Resource: "cpu", Enter: 0.05, Leave: 0.05, Deviation: true, For: 2},
		}}
	if diff := cmp.Diff(want, c.LoadWindows()); diff != "" || !c.Measures() {
		t.Error(diff)
	}
	c, err = config.Load("config.yaml", []byte(measured+"web: {watcher: true}\n"))
	if err != nil || c.LoadWindows().KeepNodes != 15*time.Minute {
		t.Errorf("with a watcher nodes are kept for %s, %v", c.LoadWindows().KeepNodes, err)
	}
	if config.Default().Measures() {
		t.Error("the default asks a source")
	}
}

// TestAShortMaxAgeWithoutPrometheus: the window of rates, which nobody wrote and nobody
// takes, is longer than what is used of metrics-server.
func TestAShortMaxAgeWithoutPrometheus(t *testing.T) {
	if _, err := config.Load("config.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nload: {source: metricsServer, maxAge: 1m}\n")); err != nil {
		t.Error(err)
	}
}
