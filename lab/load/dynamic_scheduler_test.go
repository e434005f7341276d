package load

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
	"github.com/evenkeel-project/evenkeel/lab/usagestack"
)

// ruleFile is a rule file of dynamicScheduler, with queries for the lab's nodes.
const ruleFile = `PromJob: {Name: "kubelet"}
Rulename:
  Node_cpu1:
    Promsql: "max by (instance) (rate(node_cpu_usage_seconds_total{job='kubelet'}[20s])) / 10 * 100"
    Threshold: 70
`

// hourlyStrategy is a strategy that is due within two minutes, and then again after an hour. Each pod uses one core, so
// a node with 5 pods is half a core below the target, which exceeds the measurement error.
func hourlyStrategy(now time.Time) string {
	return fmt.Sprintf(`
strategies:
  hourly: {type: NodeLoad, schedule: "%d * * * *", args: {basis: load, target: {cpu: 0.55}}}
limits: {perNamespace: 100%%}
`, now.Add(90*time.Second).UTC().Minute())
}

// TestHintsAndHourlyBalanceTogether checks hints and a strategy together. A rule of dynamicScheduler labels a busy
// node with low requests. Pods with preferred node affinity then avoid the labelled node. The hourly pass evicts the
// excess pods one by one, as the budget allows, and no replacement returns.
func TestHintsAndHourlyBalanceTogether(t *testing.T) {
	soft := map[string]string{"status": "presure"}
	ns := seedApps(t, []seed.App{
		{Name: "busy", MilliCPU: 100, MemoryMi: 64, Nodes: repeatNode("n1", 8), GraceSeconds: 30, AvoidedNodeLabel: soft,
			Annotations: usagestack.UsageAnnotations(1000, 64)},
		{Name: "new", MilliCPU: 10, MemoryMi: 16, GraceSeconds: 1, AvoidedNodeLabel: soft},
	})
	createBudget(t, ns, "busy")
	s := sources()[1]
	s.waitForCPU(t, map[string]float64{"n1": 8})
	rules := filepath.Join(t.TempDir(), "rule.yaml")
	must.Succeed(t, os.WriteFile(rules, []byte(ruleFile), 0o600))
	hints := fmt.Sprintf("hints: {enabled: true, label: status=presure, rulesFile: %q}\n", rules)
	p := startProgram(t, ns, configFile(t, s.config()+hints))
	p.waitUntil(t, "n1 has the label", func() bool { return getNode(t, "n1").Labels["status"] == "presure" })
	checkHotNodes(t, p, "n1")

	added := scaleUp(t, ns, "new", 12)
	if there := podsByNode(t, ns, "new"); there["n1"] != 0 {
		t.Errorf("new pods by node: %v, want none on n1", there)
	}
	checkPredictions(t, ns, added)

	p.replaceConfig(t, s.config()+hints+hourlyStrategy(time.Now()))
	p.waitUntil(t, "the hourly pass has evicted", func() bool {
		return slices.ContainsFunc(p.reports(), func(r testbed.Report) bool { return len(r.Outcomes()) > 0 })
	})
	granted, refused := auditedEvictions(t, ns)
	if len(granted) != 3 || refused != 0 {
		t.Errorf("%d evictions, %d refused; want 3 evictions (8 of 10 cores used, target 5.5) and none refused", len(granted), refused)
	}
	p.waitUntil(t, "the label is removed", func() bool { return getNode(t, "n1").Labels["status"] == "" })
	checkHotNodes(t, p)
	s.waitForCPU(t, map[string]float64{"n1": 5})
	if there := podsByNode(t, ns, "busy"); there["n1"] != 5 || there["n2"]+there["n3"]+there["n4"] != 3 {
		t.Errorf("pods by node: %v, want 5 on n1 and 3 elsewhere", there)
	}
	// A second plan must be empty, because no replacement has returned.
	again := configFile(t, s.config()+hints+hourlyStrategy(time.Now()))
	stdout, code := runEvenkeel(t, "plan", "-o", "json", "--config", again, "--lease-namespace", ns)
	var plan testbed.Report
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil || code != 0 || len(plan.Spec.Moves) != 0 {
		t.Errorf("second plan: exit %d, %d moves (%v)", code, len(plan.Spec.Moves), err)
	}
}

// checkHotNodes checks the HTTP answers to dynamicScheduler's clients.
func checkHotNodes(t *testing.T, p *process, names ...string) {
	t.Helper()
	want := fmt.Sprintf(`{"type":"Label type=presure Nodes","num":%d,"node_names":[%s]}`, len(names), quotedNames(names))
	var got string
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		got = strings.TrimSpace(httpGet(p.url + "/nodes"))
		return got == want, nil
	}); err != nil {
		t.Errorf("GET /nodes answers %s, want %s", got, want)
	}
	if got := strings.TrimSpace(httpGet(p.url + "/status")); got != "ok" {
		t.Errorf("GET /status answers %q", got)
	}
}

func quotedNames(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return `"` + strings.Join(names, `","`) + `"`
}
