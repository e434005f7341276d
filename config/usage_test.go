package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

const usageConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
load: {source: metricsServer, interval: 15s, statistic: mean, window: 10m, maxAge: 2m}
strategies:
  hot: {type: NodeLoad, schedule: "@hourly", args: {basis: load, target: {memory: 0.7, cpu: 0.8}, for: 3}}
  level: {type: NodeLoad, schedule: "@hourly", args: {basis: load, deviation: {cpu: 0.05}, for: 2}}
  burst: {type: NodeLoad, schedule: "@hourly", nodeSelector: pool=burst, args: {basis: load, for: 2, target: {cpu: 0.5}}}
  once: {type: NodeLoad, schedule: "@hourly", args: {basis: load, target: {cpu: 0.9}}}
`

func TestLoadWindows(t *testing.T) {
	c, err := config.Load("config.yaml", []byte(usageConfig))
	if err != nil {
		t.Fatal(err)
	}
	want := window.Options{Source: "metricsServer", Statistic: window.Mean, Window: 10 * time.Minute, MaxAge: 2 * time.Minute, Interval: 15 * time.Second,
		Watches: []window.LevelWatch{
			{Name: "burst", Resource: "cpu", Enter: 0.5, Leave: 0.5, For: 2},
			{Name: "hot", Resource: "cpu", Enter: 0.8, Leave: 0.8, For: 3}, {Name: "hot", Resource: "memory", Enter: 0.7, Leave: 0.7, For: 3},
			{Name: "level", Resource: "cpu", Enter: 0.05, Leave: 0.05, Deviation: true, For: 2},
		}}
	if diff := cmp.Diff(want, c.UsageWindowOptions()); diff != "" || !c.HasUsageSource() {
		t.Error(diff)
	}
	c, err = config.Load("config.yaml", []byte(strings.Replace(usageConfig, "load: {", "load: {serve: true, ", 1)))
	if err != nil || c.UsageWindowOptions().KeepNodeSamples != 15*time.Minute {
		t.Errorf("with load.serve, node samples are kept for %s (error %v), want 15m", c.UsageWindowOptions().KeepNodeSamples, err)
	}
	c, err = config.Load("config.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nload: {source: prometheus, prometheus: {url: http://p, rateWindow: 90s}}\n"))
	if err != nil || c.UsageWindowOptions().RateWindow != 90*time.Second {
		t.Errorf("the rate window is %s (error %v), want 90s", c.UsageWindowOptions().RateWindow, err)
	}
	if config.Default().HasUsageSource() {
		t.Error("the default configuration has a usage source, want none")
	}
}

// TestNodesOnlySources checks which usage sources measure nodes but no pods.
func TestNodesOnlySources(t *testing.T) {
	const head = "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nload: "
	for load, want := range map[string]bool{
		"{source: metricsServer}":                                                                                                              false,
		"{source: loadWatcher, loadWatcher: {url: http://w}}":                                                                                  true,
		"{source: prometheus, prometheus: {url: http://p}}":                                                                                    false,
		`{source: prometheus, prometheus: {url: http://p, podQueries: {cpu: "", memory: ""}}}`:                                                 true,
		`{source: prometheus, prometheus: {url: http://p, podQueries: {cpu: ""}}}`:                                                             false,
		`{source: prometheus, prometheus: {url: http://p, preset: none, queries: {cpu: c}}}`:                                                   true,
		`{source: prometheus, prometheus: {url: http://p, preset: none, queries: {cpu: c}, podQueries: {cpu: "sum by (namespace, pod) (c)"}}}`: false,
	} {
		c, err := config.Load("config.yaml", []byte(head+load+"\n"))
		if err != nil {
			t.Errorf("%s: %v", load, err)
		} else if got := c.UsageWindowOptions().NodesOnly; got != want {
			t.Errorf("%s: NodesOnly is %v, want %v", load, got, want)
		}
	}
}

// TestShortMaxAgeWithoutPrometheus checks that load.maxAge may be less than the default of prometheus.rateWindow,
// unless the usage source is Prometheus.
func TestShortMaxAgeWithoutPrometheus(t *testing.T) {
	if _, err := config.Load("config.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nload: {source: metricsServer, maxAge: 1m}\n")); err != nil {
		t.Error(err)
	}
}
