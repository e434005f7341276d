package helm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// one returns the only object of a kind.
func one(t *testing.T, manifests, kind string) manifest {
	t.Helper()
	found := parseObjects(t, manifests, kind)
	if len(found) != 1 {
		t.Fatalf("%d objects of kind %s, want 1", len(found), kind)
	}
	return found[0]
}

// TestMonitoringIsOptional checks that the chart needs no CRD and limits no traffic by default.
func TestMonitoringIsOptional(t *testing.T) {
	for _, kind := range []string{"Deployment", "CronJob"} {
		out := renderChart(t, "--set", "kind="+kind)
		for _, never := range []string{"monitoring.coreos.com", "NetworkPolicy", "grafana"} {
			if strings.Contains(out, never) {
				t.Errorf("%s: the default values render %s", kind, never)
			}
		}
	}
}

// TestMonitors checks the settings of a PodMonitor and of a ServiceMonitor.
func TestMonitors(t *testing.T) {
	const tls, authorize = ",tls.secretName=cert", ",metrics.authorize=true"
	const ownTLS = ",metrics.monitor.endpoint.tlsConfig.insecureSkipVerify=true"
	const ownToken = ",metrics.monitor.endpoint.authorization.credentials.name=token"
	const plain = `"path":"/metrics","port":"http"`
	const scheme = `"scheme":"https","tlsConfig":{"ca":{"secret":{"key":"ca.crt","name":"cert"}},"serverName":"ek-evenkeel.ek-system.svc"}`
	const token = `"authorization":{"credentials":{"name":"token"}},`
	const set = ",metrics.monitor.interval=1m,metrics.monitor.endpoint.scrapeTimeout=20s,metrics.monitor.endpoint.honorLabels=true," +
		"metrics.monitor.endpoint.relabelings[0].action=drop,metrics.monitor.labels.release=p,metrics.monitor.namespace=monitoring"
	for values, want := range map[string]string{
		"":                                  plain,
		set:                                 `"honorLabels":true,"interval":"1m",` + plain + `,"relabelings":[{"action":"drop"}],"scrapeTimeout":"20s"`,
		tls:                                 plain + "," + scheme,
		tls + authorize + ownToken:          token + plain + "," + scheme,
		tls + authorize + ownToken + ownTLS: token + plain + `,"scheme":"https","tlsConfig":{"insecureSkipVerify":true}`,
		tls + authorize:                     `"bearerTokenFile":"/var/run/secrets/kubernetes.io/serviceaccount/token",` + plain + "," + scheme,
	} {
		for kind, list := range map[string]string{"PodMonitor": "podMetricsEndpoints", "ServiceMonitor": "endpoints"} {
			if kind == "PodMonitor" && strings.HasPrefix(want, `"bearerTokenFile"`) {
				continue // it is refused
			}
			out := renderChart(t, "--set", "service.enabled=true,metrics.monitor.enabled=true,metrics.monitor.kind="+kind+values)
			m := one(t, out, kind)
			at{[]any{"spec", list}, "[{" + want + "}]"}.check(t, kind+values, m)
			at{[]any{"spec", "namespaceSelector", "matchNames"}, `["ek-system"]`}.check(t, kind+values, m)
			if values == set {
				at{[]any{"metadata", "labels", "release"}, `"p"`}.check(t, kind, m)
				at{[]any{"metadata", "namespace"}, `"monitoring"`}.check(t, kind, m)
			}
			checkSelects(t, out, m, kind)
		}
	}
}

// checkSelects checks that the selector of a monitor matches the Service or the pods.
func checkSelects(t *testing.T, manifests string, m manifest, kind string) {
	t.Helper()
	var labels manifest
	if kind == "ServiceMonitor" {
		labels = valueAt(t, one(t, manifests, "Service"), "metadata", "labels").(manifest)
	} else {
		labels = valueAt(t, podTemplates(t, manifests)[0], "metadata", "labels").(manifest)
	}
	for key, value := range valueAt(t, m, "spec", "selector", "matchLabels").(manifest) {
		if labels[key] != value {
			t.Errorf("%s selects %s=%v, but the object has %v", kind, key, value, labels[key])
		}
	}
}

// shippedRules returns the rules of the chart by name.
func shippedRules(t *testing.T) map[string]manifest {
	t.Helper()
	text, err := os.ReadFile(chart + "/files/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string     `json:"name"`
			Rules []manifest `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	found := map[string]manifest{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if name, ok := r["alert"].(string); ok {
				found[name] = r
			}
		}
	}
	return found
}

// TestPrometheusRule checks that the PrometheusRule has every alert of the file, with the labels of ruleLabels, without
// the disabled ones, and that its text reaches Prometheus unchanged. Only EvenkeelAbsent concerns the namespace of the
// release, so that another release does not hide that this one is absent.
func TestPrometheusRule(t *testing.T) {
	shipped := shippedRules(t)
	var disabled string
	for name := range shipped {
		disabled = name
	}
	values := "metrics.prometheusRule.enabled=true,metrics.prometheusRule.ruleLabels.team=a,metrics.prometheusRule.ruleLabels.severity=info," +
		"metrics.prometheusRule.additionalGroups[0].name=mine"
	for _, off := range []string{"", disabled} {
		set := values
		if off != "" {
			set += ",metrics.prometheusRule.disabled={" + off + "}"
		}
		var names, groups []string
		for _, g := range valueAt(t, one(t, renderChart(t, "--set", set), "PrometheusRule"), "spec", "groups").([]any) {
			groups = append(groups, valueAt(t, g, "name").(string))
			rules, _ := g.(manifest)["rules"].([]any)
			for _, r := range rules {
				name, alert := r.(manifest)["alert"].(string)
				if !alert {
					continue
				}
				names = append(names, name)
				if labels := fmt.Sprint(valueAt(t, r, "labels")); !strings.Contains(labels, "team:a") || !strings.Contains(labels, "severity:info") {
					t.Errorf("%s has labels %s", name, labels)
				}
				const all = "absent(evenkeel_build_info)"
				expr := strings.ReplaceAll(shipped[name]["expr"].(string), all, `absent(evenkeel_build_info{namespace="ek-system"})`)
				if name == "EvenkeelAbsent" && expr == shipped[name]["expr"] {
					t.Errorf("%s does not contain %s, which the chart replaces: %s", name, all, expr)
				}
				if r.(manifest)["expr"] != expr || fmt.Sprint(r.(manifest)["annotations"]) != fmt.Sprint(shipped[name]["annotations"]) {
					t.Errorf("%s differs from the file: %v", name, r)
				}
			}
		}
		want := len(shipped)
		if off != "" {
			want--
		}
		if len(names) != want || slices.Contains(names, off) || !slices.Contains(groups, "mine") {
			t.Errorf("disabled %q: alerts %v, groups %v", off, names, groups)
		}
	}
}

// TestDashboard checks that the ConfigMap holds the dashboard unchanged, and the label by which Grafana finds it.
func TestDashboard(t *testing.T) {
	out := renderChart(t, "--set", "metrics.dashboard.enabled=true,metrics.dashboard.namespace=grafana,metrics.dashboard.annotations.grafana_folder=Ops")
	text, err := os.ReadFile(chart + "/files/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range parseObjects(t, out, "ConfigMap") {
		if valueAt(t, m, "metadata", "name") != "ek-evenkeel-dashboard" {
			continue
		}
		if got := valueAt(t, m, "data", "evenkeel.json").(string); strings.TrimSpace(got) != strings.TrimSpace(string(text)) {
			t.Errorf("the dashboard differs from the file:\n%s", got)
		}
		if valueAt(t, m, "metadata", "labels", "grafana_dashboard") != "1" || valueAt(t, m, "metadata", "namespace") != "grafana" ||
			valueAt(t, m, "metadata", "annotations", "grafana_folder") != "Ops" {
			t.Errorf("metadata %v", m["metadata"])
		}
		return
	}
	t.Error("there is no ConfigMap with the dashboard")
}

// TestNetworkPolicy checks which traffic of the pods the NetworkPolicy permits.
func TestNetworkPolicy(t *testing.T) {
	const dns53 = `{"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP"}]}`
	const dns, api = `{"ports":[{"port":53,"protocol":"UDP"},{"port":53,"protocol":"TCP"},{"port":5353,"protocol":"UDP"},{"port":5353,"protocol":"TCP"}]}`, `{"ports":[{"port":443,"protocol":"TCP"},{"port":6443,"protocol":"TCP"}]}`
	for _, c := range []struct{ values, types, ingress, egress string }{
		{"", "[Ingress]", `[{"ports":[{"port":"http","protocol":"TCP"}]}]`, "null"},
		{"kind=CronJob", "[Ingress]", "[]", "null"},
		{"networkPolicy.from[0].namespaceSelector.matchLabels.name=monitoring", "[Ingress]",
			`[{"from":[{"namespaceSelector":{"matchLabels":{"name":"monitoring"}}}],"ports":[{"port":"http","protocol":"TCP"}]}]`, "null"},
		{"networkPolicy.egress.enabled=true", "[Ingress Egress]", `[{"ports":[{"port":"http","protocol":"TCP"}]}]`, "[" + dns + "," + api + "]"},
		{"networkPolicy.egress.enabled=true,networkPolicy.egress.dnsPorts={53}", "[Ingress Egress]", `[{"ports":[{"port":"http","protocol":"TCP"}]}]`,
			"[" + dns53 + "," + api + "]"},
		{"networkPolicy.egress.enabled=true,networkPolicy.egress.apiServerPorts={8443},networkPolicy.egress.rules[0].ports[0].port=9090", "[Ingress Egress]",
			`[{"ports":[{"port":"http","protocol":"TCP"}]}]`, "[" + dns + `,{"ports":[{"port":8443,"protocol":"TCP"}]},{"ports":[{"port":9090}]}]`},
	} {
		out := renderChart(t, "--set", "networkPolicy.enabled=true,"+c.values)
		p := one(t, out, "NetworkPolicy")
		spec := valueAt(t, p, "spec").(manifest)
		for field, want := range map[string]string{"ingress": c.ingress, "egress": c.egress} {
			if got, err := json.Marshal(spec[field]); err != nil || string(got) != want {
				t.Errorf("%s: %s is %s, want %s (%v)", c.values, field, got, want, err)
			}
		}
		if got := fmt.Sprint(spec["policyTypes"]); got != c.types {
			t.Errorf("%s: policyTypes %s", c.values, got)
		}
		for _, pod := range podTemplates(t, out) {
			for key, value := range valueAt(t, spec, "podSelector", "matchLabels").(manifest) {
				if got := valueAt(t, pod, "metadata", "labels", key); got != value {
					t.Errorf("%s: the policy selects %s=%v, the pods have %v", c.values, key, value, got)
				}
			}
		}
	}
}

// TestWrongMonitoring checks the messages about monitors that would find nothing.
func TestWrongMonitoring(t *testing.T) {
	for values, want := range map[string]string{
		"metrics.monitor.enabled=true,metrics.monitor.kind=ServiceMonitor":           "metrics.monitor.kind is ServiceMonitor, but there is no Service (want service.enabled: true, or kind: PodMonitor)",
		"metrics.monitor.enabled=true,kind=CronJob":                                  "metrics.monitor.enabled is true, but the pods of kind CronJob end before anybody reads their metrics (want kind Deployment, or metrics.pushURL)",
		"metrics.monitor.enabled=true,metrics.authorize=true,tls.secretName=a":       "a PodMonitor cannot use the token of Prometheus itself",
		"metrics.monitor.enabled=true,tls.secretName=a,metrics.monitor.namespace=m":  "metrics.monitor.namespace is m, but Prometheus reads the CA certificate from Secret a",
		"metrics.prometheusRule.enabled=true,metrics.prometheusRule.disabled={Nope}": "metrics.prometheusRule.disabled names Nope, which is no alert of this chart (want one of Evenkeel",
		"metrics.monitor.enabled=true,metrics.monitor.interval=often":                `metrics.monitor.interval is "often" (want a duration`,
		"metrics.monitor.intervall=1m":                                               "'intervall' not allowed",
		"networkPolicy.egress.apiServerPorts={0}":                                    "/networkPolicy/egress/apiServerPorts/0",
	} {
		if out, errs, err := runHelm(t, slices.Concat([]string{"template", "ek", chart, "--set", values}, imageArgs)...); err == nil {
			t.Errorf("helm accepts %s:\n%s", values, out)
		} else if !strings.Contains(errs, want) {
			t.Errorf("%s: the error does not contain %q: %s", values, want, errs)
		}
	}
}
