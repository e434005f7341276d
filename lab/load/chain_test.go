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

	"github.com/evenkeel-project/evenkeel/lab/loadbed"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// ruleFile is dynamicScheduler's, on what the lab's nodes expose.
const ruleFile = `PromJob: {Name: "kubelet"}
Rulename:
  Node_cpu1:
    Promsql: "max by (instance) (rate(node_cpu_usage_seconds_total{job='kubelet'}[20s])) / 10 * 100"
    Threshold: 70
`

// hourly is due within two minutes, and then not for an hour. Pods use a core each, so
// that 5 of them are half a core below the target: what is measured is not that far off.
func hourly(now time.Time) string {
	return fmt.Sprintf(`
strategies:
- {name: hourly, type: NodeLoad, schedule: "%d * * * *", args: {basis: load, target: {cpu: 0.55}}}
limits: {perNamespace: 100%%}
`, now.Add(90*time.Second).UTC().Minute())
}

// TestHintsAndHourlyBalanceTogether: dynamicScheduler's rules label a node that is busy
// and idle by requests; pods with soft affinity stay away from it; the hourly pass takes
// off it what is too much, one by one as the budget says; and nothing comes back.
func TestHintsAndHourlyBalanceTogether(t *testing.T) {
	soft := map[string]string{"status": "presure"}
	ns := scenario(t, []seed.App{
		{Name: "busy", MilliCPU: 100, MemoryMi: 64, On: on("n1", 8), GraceSeconds: 30, Avoids: soft, Annotations: loadbed.Use(1000, 64)},
		{Name: "new", MilliCPU: 10, MemoryMi: 16, GraceSeconds: 1, Avoids: soft},
	})
	budget(t, ns, "busy")
	s := sources()[1]
	s.awaitCPU(t, map[string]float64{"n1": 8})
	rules := filepath.Join(t.TempDir(), "rule.yaml")
	if err := os.WriteFile(rules, []byte(ruleFile), 0o600); err != nil {
		t.Fatal(err)
	}
	hints := fmt.Sprintf("hints: {enabled: true, label: {key: status, value: presure}, rulesFile: %q}\n", rules)
	p := start(t, ns, configFile(t, s.config()+hints))
	p.await(t, "n1 has the label", func() bool { return node(t, "n1").Labels["status"] == "presure" })
	hotNodes(t, p, "n1")

	added := grow(t, ns, "new", 12)
	if there := podsByNode(t, ns, "new"); there["n1"] != 0 {
		t.Errorf("new pods by node: %v; want none on n1", there)
	}
	landedAsPredicted(t, ns, added)

	p.change(t, s.config()+hints+hourly(time.Now()))
	p.await(t, "the hourly pass has evicted", func() bool {
		return slices.ContainsFunc(p.reports(), func(r report) bool { return len(r.Outcomes) > 0 })
	})
	granted, refused := evicted(t, ns)
	if len(granted) != 3 || refused != 0 {
		t.Errorf("%d evictions and %d refused; want 3, for 8 of 10 cores are used and 5.5 are wanted, and no refusal by the budget", len(granted), refused)
	}
	p.await(t, "the label goes with the load", func() bool { return node(t, "n1").Labels["status"] == "" })
	hotNodes(t, p)
	s.awaitCPU(t, map[string]float64{"n1": 5})
	if there := podsByNode(t, ns, "busy"); there["n1"] != 5 || there["n2"]+there["n3"]+there["n4"] != 3 {
		t.Errorf("pods by node: %v; want 5 on n1, and the other 3 elsewhere", there)
	}
	// Nothing comes back: planning at once finds nothing to do.
	stdout, code := evenkeel(t, "plan", "-o", "json", "--config", configFile(t, s.config()+hints+hourly(time.Now())), "--lease-namespace", ns)
	var plan struct{ Moves []any }
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil || code != 0 || len(plan.Moves) != 0 {
		t.Errorf("planning again: exit %d, %d moves (%v)", code, len(plan.Moves), err)
	}
}

// hotNodes checks what dynamicScheduler's clients are told.
func hotNodes(t *testing.T, p *process, names ...string) {
	t.Helper()
	want := fmt.Sprintf(`{"type":"Label type=presure Nodes","num":%d,"node_names":[%s]}`, len(names), quoted(names))
	var got string
	if err := seed.Until(t.Context(), time.Minute, func() (bool, error) {
		got = strings.TrimSpace(get(p.url + "/nodes"))
		return got == want, nil
	}); err != nil {
		t.Errorf("GET /nodes answers %s, want %s", got, want)
	}
	if got := strings.TrimSpace(get(p.url + "/status")); got != "ok" {
		t.Errorf("GET /status answers %q", got)
	}
}

func quoted(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return `"` + strings.Join(names, `","`) + `"`
}
