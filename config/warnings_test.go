package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/config"
)

func TestWindowWarnings(t *testing.T) {
	for windows, want := range map[string]string{
		"": "",
		"allow: [{schedule: \"0 2 * * *\", duration: 1h}]":                                                     "",
		"allow: [{schedule: \"0 2 * * *\", duration: 1h}], deny: [{schedule: \"0 2 * * *\", duration: 30m}]":   "",
		"allow: [{schedule: \"0 2 * * *\", duration: 1h}], deny: [{schedule: \"0 2 * * *\", duration: 2h}]":    "outside the deny windows within a year",
		"deny: [{schedule: \"0 0 * * *\", duration: 24h}]":                                                     "the deny windows leave no time within a year",
		"allow: [{schedule: \"0 2 29 2 *\", duration: 1h}]":                                                    "no allow window opens within a year",
		"allow: [{schedule: \"0 2 * * *\", duration: 1h}], deny: [{schedule: \"0 0 * * 1-6\", duration: 24h}]": "",
	} {
		c, err := config.Load("c.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies: []\nwindows: {"+windows+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(c.Warnings(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)), "; ")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", windows, got, want)
		}
	}
}

func TestTokenWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"source: prometheus, prometheus: {url: \"http://prometheus.monitoring:9090\", tokenFile: /t}":                "load.prometheus.tokenFile: Evenkeel sends the token to an http:// address",
		"source: prometheus, prometheus: {url: \"HTTP://10.0.0.1:9090\", tokenFile: /t}":                             "load.prometheus.tokenFile: Evenkeel sends the token to an http:// address",
		"source: prometheus, prometheus: {url: \"https://prometheus.monitoring:9090\", tokenFile: /t}":               "",
		"source: prometheus, prometheus: {url: \"http://prometheus.monitoring:9090\"}":                               "",
		"source: prometheus, prometheus: {url: \"http://localhost:9090\", tokenFile: /t}":                            "",
		"source: prometheus, prometheus: {url: \"http://127.0.0.2:9090\", tokenFile: /t}":                            "",
		"source: prometheus, prometheus: {url: \"http://[::1]:9090\", tokenFile: /t}":                                "",
		"source: metricsServer, prometheus: {url: \"http://x:9090\", tokenFile: /t}":                                 "",
		"source: loadWatcher, loadWatcher: {url: \"http://load-watcher:2020\", tokenFile: /t}":                       "load.loadWatcher.tokenFile: Evenkeel sends the token",
		"prometheus: {url: \"http://x:9090\", tokenFile: /t}}\nevictor: {breaker: {prometheusAlerts: [KubeAPIDown]}": "load.prometheus.tokenFile: Evenkeel sends the token",
	} {
		c, err := config.Load("c.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies: []\nload: {"+text+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(config.TokenWarnings(c), "; ")
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestSuspiciousSettingWarnings checks warnings about limits that permit no eviction, strategies that are never
// due in an allow window, and fewer protections than the default.
func TestSuspiciousSettingWarnings(t *testing.T) {
	const (
		noon  = "strategies: [{name: zones, type: ZoneSpread, schedule: \"0 12 * * *\"}, {name: hot, type: NodeLoad, schedule: \"*/10 * * * *\", args: {target: {cpu: 0.8}}}]\n"
		night = "windows: {allow: [{schedule: \"0 22 * * *\", duration: 6h}]}\n"
	)
	for text, want := range map[string]string{
		"limits: {perPass: 0, perZone: 0}\n": "limits.perPass: 0: Evenkeel would plan nothing and evict nothing; to plan without evicting, set dryRun: true; limits.perZone: 0: Evenkeel",
		"strategies: [{name: a, type: ZoneSpread, schedule: \"@hourly\", limits: {perPass: 0}}]\n": "strategies[0].limits.perPass: 0: no pod would move for strategy a",
		"limits: {perOwner: 0%}\n":                 "limits.perOwner: 0%: Evenkeel would plan nothing and evict nothing",
		"limits: {perPass: 1, perNamespace: 1%}\n": "",
		noon:         "",
		noon + night: "strategies[0].schedule: \"0 12 * * *\": within a year, strategy zones is never due while windows allow evictions: it would evict nothing",
		noon + "windows: {deny: [{schedule: \"0 12 * * *\", duration: 1m}]}\n":                                            "strategies[0].schedule: \"0 12 * * *\": within a year, strategy zones",
		noon + "windows: {deny: [{schedule: \"0 12 * * 1-5\", duration: 1m}]}\n":                                          "",
		noon + "windows: {allow: [{schedule: \"0 12 3 * *\", duration: 10m}]}\n":                                          "",
		noon + "windows: {allow: [{schedule: \"3 * * * *\", duration: 5m}]}\n":                                            "strategies[0].schedule: \"0 12 * * *\": within a year, strategy zones is never due while windows allow evictions: it would evict nothing; strategies[1].schedule: \"*/10 * * * *\": within a year, strategy hot",
		"guards: {protect: [DaemonSetPods, Jobs, PodsWithLocalStorage, DegradedWorkloads, LastReadyPods, PodsWithPVC]}\n": "guards.protect: lacks SystemCriticalPods, BarePods of the default: Evenkeel may evict such pods",
		"guards: {protect: []}\n": "guards.protect: lacks PodsWithLocalStorage, DaemonSetPods, ",
	} {
		c, err := config.Load("c.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(c.Warnings(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)), "; ")
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
