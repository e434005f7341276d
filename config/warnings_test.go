package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
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
		c := must.Get(config.Load("c.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies: {}\nwindows: {"+windows+"}\n")))(t)
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
		c := must.Get(config.Load("c.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\nstrategies: {}\nload: {"+text+"}\n")))(t)
		got := strings.Join(config.TokenWarnings(c), "; ")
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestStrategyRuleWarnings checks warnings about rules of strategies that have no effect beside the global ones.
func TestStrategyRuleWarnings(t *testing.T) {
	for _, c := range []struct{ global, rules, want string }{
		{"", "limits: {perPass: 50, perOwner: 50%, perHour: {cluster: 300}}", ""},
		{"", "limits: {perPass: 100}", "strategies.zones.limits.perPass: 100 has no effect, because limits.perPass: 50 also holds (want less, or leave the key out)"},
		{"", "limits: {perPass: unlimited}", "strategies.zones.limits.perPass: unlimited has no effect, because limits.perPass: 50 also holds (want less, or leave the key out)"},
		{"limits: {perPass: unlimited}\n", "limits: {perPass: unlimited}", ""},
		{"limits: {perPass: unlimited}\n", "limits: {perPass: 1000}", ""},
		{"", "limits: {perOwner: 51%}", "strategies.zones.limits.perOwner: 51% has no effect, because limits.perOwner: 50% also holds (want less, or leave the key out)"},
		{"", "limits: {perOwner: 100}", ""}, // 50 % of a large workload are more
		{"", "limits: {perPass: 99%}", ""},  // less than 50 in a small cluster
		{"", "limits: {perPass: 100%}", "strategies.zones.limits.perPass: 100% has no effect, because limits.perPass: 50 also holds (want less, or leave the key out)"},
		{"limits: {perPass: 1}\n", "limits: {perPass: 2%}", "strategies.zones.limits.perPass: 2% has no effect, because limits.perPass: 1 also holds (want less, or leave the key out)"},
		{"limits: {perPass: 0%}\n", "limits: {perPass: 1}", "limits.perPass: 0%: Evenkeel would plan nothing and evict nothing; to plan without evicting, set dryRun: true"},
		{"limits: {perPass: 0}\n", "limits: {perPass: 1%}", "limits.perPass: 0: Evenkeel would plan nothing and evict nothing; to plan without evicting, set dryRun: true"},
		{"", "limits: {perHour: {owner: 11, cluster: 301}}", "strategies.zones.limits.perHour.owner: 11 has no effect, because limits.perHour.owner: 10 also holds (want less, or leave the key out); " +
			"strategies.zones.limits.perHour.cluster: 301 has no effect, because limits.perHour.cluster: 300 also holds (want less, or leave the key out)"},
		{"windows: {allow: [{schedule: \"0 * * * *\", duration: 30m, limits: {perPass: 60, perHour: {owner: 20, cluster: 5}}}]}\n", "weight: 1",
			"windows.allow[0].limits.perPass: 60 has no effect, because limits.perPass: 50 also holds (want less, or leave the key out); " +
				"windows.allow[0].limits.perHour.owner: 20 has no effect, because limits.perHour.owner: 10 also holds (want less, or leave the key out)"},
		{"", "namespaces: {exclude: [bank]}", ""},
		{"", "namespaces: {exclude: [kube-system]}", "strategies.zones.namespaces.exclude[0]: kube-system has no effect, because the global namespaces.exclude lists it too"},
		{"namespaces: {include: [shop, web]}\n", "namespaces: {exclude: [bank]}", "strategies.zones.namespaces.exclude[0]: bank has no effect, because it is out of the global scope: namespaces.include is [shop, web]"},
		{"namespaces: {include: [shop, web]}\n", "namespaces: {exclude: [web]}", ""},
		{"namespaces: {include: [team-*]}\n", "namespaces: {exclude: [team-a, team-b*, te*]}", ""},
		{"namespaces: {include: [team-*]}\n", "namespaces: {exclude: [bank-*]}", "strategies.zones.namespaces.exclude[0]: bank-* has no effect, because it is out of the global scope: namespaces.include is [team-*]"},
		{"namespaces: {exclude: [openshift-*]}\n", "namespaces: {exclude: [openshift-dns]}", "strategies.zones.namespaces.exclude[0]: openshift-dns has no effect, because the global namespaces.exclude lists it too"},
		{"", "namespaces: {include: [shop], exclude: [bank]}", "strategies.zones.namespaces.exclude[0]: bank has no effect, because namespaces.include of the strategy is [shop]"},
		{"nodeSelector: pool=a\n", "nodeSelector: pool=b", "strategies.zones.nodeSelector: \"pool=b\" and the global nodeSelector \"pool=a\" require different values of pool: the scope of strategy zones is empty"},
		{"nodeSelector: \"pool in (a, b)\"\n", "nodeSelector: \"disk=ssd,pool=b\"", ""},
		{"nodeSelector: \"pool!=b\"\n", "nodeSelector: pool=b", ""}, // only required values are compared
		{"guards: {podSelector: tier=web}\n", "podSelector: tier=db", "strategies.zones.podSelector: \"tier=db\" and guards.podSelector \"tier=web\" require different values of tier: the scope of strategy zones is empty"},
		{"namespaces: {selector: team=a}\n", "namespaces: {selector: \"team in (b, c)\"}", "strategies.zones.namespaces.selector: \"team in (b, c)\" and the global namespaces.selector \"team=a\" require different values of team: the scope of strategy zones is empty"},
	} {
		conf := must.Get(config.Load("c.yaml", []byte(minimalConfig+c.global+"strategies: {zones: {type: ZoneSpread, schedule: \"@hourly\", "+c.rules+"}}\n")))(t)
		if got := strings.Join(conf.Warnings(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)), "; "); got != c.want {
			t.Errorf("%s%s:\ngot  %q\nwant %q", c.global, c.rules, got, c.want)
		}
	}
}

// TestArgumentWarnings checks the warnings about arguments that match every healthy pod.
func TestArgumentWarnings(t *testing.T) {
	const every = "without a status it also matches every healthy pod, so each pod is replaced again once it is older than "
	for args, want := range map[string]string{
		"conditions: [{type: Ready}]":                                       "strategies.old.args.conditions[0]: " + every + "10m",
		"conditions: [{type: Ready}], minAge: 2h":                           "strategies.old.args.conditions[0]: " + every + "2h",
		"conditions: [{type: DisruptionTarget}, {type: PodScheduled}]":      "strategies.old.args.conditions[1]: " + every + "10m",
		"conditions: [{type: Ready}], ownerKinds: {include: [Deployment]}":  "strategies.old.args.conditions[0]: " + every + "10m",
		"conditions: [{type: Ready}], maxAge: 24h":                          "",
		"conditions: [{type: Ready, minTimeSinceTransition: 1h}]":           "",
		"conditions: [{type: Ready, status: \"False\"}]":                    "",
		"conditions: [{type: Ready, reason: ContainersNotReady}]":           "",
		"conditions: [{type: Ready}], states: [Pending]":                    "",
		"conditions: [{type: Ready}], exitCodes: [1]":                       "",
		"conditions: [{type: DisruptionTarget}]":                            "",
		"conditions: [{type: example.com/Stuck}, {type: DisruptionTarget}]": "",
		"conditions: [{type: ContainersReady, reason: ContainersNotReady}]": "",
	} {
		c := must.Get(config.Load("c.yaml", []byte(minimalConfig+"strategies: {old: {type: Lifetime, schedule: \"@hourly\", weight: 2, args: {"+args+"}}}\n")))(t)
		got := strings.Join(c.Warnings(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)), "; ")
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// TestPodUsageWarnings checks the warnings about levels for resources that Prometheus measures only of nodes.
func TestPodUsageWarnings(t *testing.T) {
	const want = "strategies.hot.args.target.disk: Prometheus measures disk of nodes but not of pods, so no pod leaves a node for it " +
		"(want load.prometheus.podQueries.disk, or when: {disk: ...} beside a level for cpu or memory)"
	for text, want := range map[string]string{
		"queries: {disk: x}|target: {disk: 0.5, cpu: 0.5}":                                    want,
		"queries: {disk: x}, podQueries: {disk: x}|target: {disk: 0.5}":                       "",
		"queries: {disk: x}|target: {cpu: 0.5}, when: {disk: 0.5}":                            "",
		"queries: {cpu: x}, preset: none|target: {cpu: 0.5}":                                  "", // estimated from requests
		"queries: {cpu: x, disk: x}, preset: none, podQueries: {disk: x}|target: {disk: 0.5}": "",
		"queries: {disk: x}, preset: none|target: {disk: 0.5}":                                want,
	} {
		source, args, _ := strings.Cut(text, "|")
		c := must.Get(config.Load("c.yaml", []byte(minimalConfig+"load: {source: prometheus, prometheus: {url: \"http://p\", "+source+"}}\n"+
			"strategies: {hot: {type: NodeLoad, schedule: \"@hourly\", args: {basis: load, "+args+"}}}\n")))(t)
		if got := strings.Join(c.Warnings(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)), "; "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestSuspiciousSettingWarnings checks warnings about limits that permit no eviction, strategies that are never
// due in an allow window, and fewer protections than the default.
func TestSuspiciousSettingWarnings(t *testing.T) {
	const (
		noon  = "strategies: {zones: {type: ZoneSpread, schedule: \"0 12 * * *\"}, hot: {type: NodeLoad, schedule: \"*/10 * * * *\", args: {target: {cpu: 0.8}}}}\n"
		night = "windows: {allow: [{schedule: \"0 22 * * *\", duration: 6h}]}\n"
	)
	for text, want := range map[string]string{
		"limits: {perPass: 0, perZone: 0}\n":                                                 "limits.perPass: 0: Evenkeel would plan nothing and evict nothing; to plan without evicting, set dryRun: true; limits.perZone: 0: Evenkeel",
		"strategies: {a: {type: ZoneSpread, schedule: \"@hourly\", limits: {perPass: 0}}}\n": "strategies.a.limits.perPass: 0: no pod would move for this strategy",
		"limits: {perOwner: 0%}\n":                                                           "limits.perOwner: 0%: Evenkeel would plan nothing and evict nothing",
		"limits: {perPass: 1, perNamespace: 1%}\n":                                           "",
		noon:         "",
		noon + night: "strategies.zones.schedule: \"0 12 * * *\": within a year, the strategy is never due while windows allow evictions: it would evict nothing",
		noon + "windows: {deny: [{schedule: \"0 12 * * *\", duration: 1m}]}\n":                                            "strategies.zones.schedule: \"0 12 * * *\": within a year, the strategy",
		noon + "windows: {deny: [{schedule: \"0 12 * * 1-5\", duration: 1m}]}\n":                                          "",
		noon + "windows: {allow: [{schedule: \"0 12 3 * *\", duration: 10m}]}\n":                                          "",
		noon + "windows: {allow: [{schedule: \"3 * * * *\", duration: 5m}]}\n":                                            "strategies.hot.schedule: \"*/10 * * * *\": within a year, the strategy is never due while windows allow evictions: it would evict nothing; strategies.zones.schedule: \"0 12",
		"guards: {protect: [DaemonSetPods, Jobs, PodsWithLocalStorage, DegradedWorkloads, LastReadyPods, PodsWithPVC]}\n": "guards.protect: lacks SystemCriticalPods, BarePods, FailedBarePods of the default: Evenkeel may evict such pods",
		"guards: {protect: []}\n": "guards.protect: lacks PodsWithLocalStorage, DaemonSetPods, ",
	} {
		c := must.Get(config.Load("c.yaml", []byte("apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n"+text)))(t)
		got := strings.Join(c.Warnings(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)), "; ")
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
