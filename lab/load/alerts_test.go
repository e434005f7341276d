package load

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// TestAFiringAlertOfPrometheusStopsEvictions runs passes while the Prometheus does not answer, while an alert fires in
// it, and after the alert. Only the last pass may evict. Usage comes from another source.
func TestAFiringAlertOfPrometheusStopsEvictions(t *testing.T) {
	ns := seedApps(t, []seed.App{{Name: "big", MilliCPU: 1000, MemoryMi: 64, Nodes: repeatNode("n1", 7), GraceSeconds: 1}})
	setAlert := func(value float64, firing int) {
		t.Helper()
		must.Succeed(t, stack.PushMetric(t.Context(), "alert", "lab", "lab_alert", value))
		waitUntil(t, fmt.Sprintf("%d alerts fire", firing), func() bool {
			got, err := stack.Query(t.Context(), `ALERTS{alertname="LabAlert",alertstate="firing"}`)
			return err == nil && len(got) == firing
		})
	}
	pass := func(url string) testbed.Report {
		t.Helper()
		stdout, _ := runEvenkeel(t, "run", "--once", "-o", "json", "--lease-namespace", ns, "--config", configFile(t, fmt.Sprintf(`
load: {source: requests, prometheus: {url: %q}}
strategies: {hot: {type: NodeLoad, schedule: "0 * * * *", args: {target: {cpu: 0.60}}}}
limits: {perNamespace: 100%%}
evictor: {breaker: {prometheusAlerts: ["Lab.*"]}}
`, url)))
		var r testbed.Report
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || len(r.Spec.Moves) == 0 {
			t.Fatalf("%d moves, %v, want at least one", len(r.Spec.Moves), err)
		}
		return r
	}
	checkStopped := func(r testbed.Report, code string) {
		t.Helper()
		if granted, refused := auditedEvictions(t, ns); r.Status.Stopped == nil || r.Status.Stopped.Code != code || len(granted)+refused > 0 {
			t.Fatalf("stopped %+v, evictions %q; want %s and none", r.Status.Stopped, granted, code)
		}
		t.Logf("%+v", *r.Status.Stopped)
	}
	setAlert(1, 1)
	checkStopped(pass(stack.Prometheus), "AlertFiring")
	checkStopped(pass("http://127.0.0.1:1"), "AlertsUnknown")
	setAlert(0, 0)
	r := pass(stack.Prometheus)
	if granted, _ := auditedEvictions(t, ns); r.Status.Stopped != nil || len(granted) == 0 {
		t.Errorf("after the alert: stopped %+v, evictions %q; want at least one", r.Status.Stopped, granted)
	}
}
