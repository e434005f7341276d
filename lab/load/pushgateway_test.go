package load

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
	"github.com/evenkeel-project/evenkeel/lab/usagestack"
)

// pushedMetric is the name of a metric with the available memory in MiB, which a script on each node pushes.
const pushedMetric = "k8_node_cgroups_mem_available"

// TestPushedMemoryHintsWhileItIsFresh pushes 812 MiB for n1, which is below the threshold of 1024, so n1 gets a hint.
// When the test stops pushing, the Pushgateway keeps serving 812, but the hint must expire.
func TestPushedMemoryHintsWhileItIsFresh(t *testing.T) {
	ns := seedApps(t, nil)
	push := func() {
		for i := 1; i <= nodeCount; i++ {
			mib := 4096.0
			if i == 1 {
				mib = 812
			}
			must.Succeed(t, stack.PushMetric(t.Context(), "cgroups", fmt.Sprintf("n%d", i), pushedMetric, mib))
		}
	}
	scraped := func() bool {
		got, err := stack.Query(t.Context(), pushedMetric)
		return err == nil && got["n1"] == 812 && len(got) == nodeCount
	}
	push()
	waitUntil(t, "Prometheus has the pushed metric", scraped)
	p := startProgram(t, ns, configFile(t, fmt.Sprintf(`
load: {source: prometheus, interval: 5s, statistic: latest, window: 1m, maxAge: 30s,
  prometheus: {url: %q, preset: none, rateWindow: 20s, queries: {memory.available: "%s * 1048576"}}}
hints: {enabled: true, ttl: 1m, taint: evenkeel.io/pressure,
  rules: [{name: memory-available, resource: memory.available, below: 1073741824, clear: 1610612736, for: 1}]}
`, stack.Prometheus, pushedMetric)))
	last := time.Now()
	p.waitUntil(t, "n1 has the hint", func() bool {
		push()
		last = time.Now()
		return hasHintTaint(getNode(t, "n1"))
	})
	if hasHintTaint(getNode(t, "n2")) {
		t.Error("n2 has 4096 MiB available but got a hint")
	}
	p.waitUntil(t, "the hint expires", func() bool { return !hasHintTaint(getNode(t, "n1")) })
	took := time.Since(last)
	t.Logf("the hint was removed %s after the last push", took.Round(time.Second))
	if took < 55*time.Second || took > 2*time.Minute {
		t.Errorf("the hint was removed %s after the last push, want about its TTL of 1m", took)
	}
	if !scraped() {
		t.Error("the Pushgateway no longer serves 812, so the test proves nothing")
	}
	p.waitForMetric(t, `evenkeel_usage_problems_total{kind="Stale"}`)
}

// TestASinglePassPushesItsMetrics checks that a real Pushgateway takes the metrics of `run --once`, under the labels of
// the release and its strategies.
func TestASinglePassPushesItsMetrics(t *testing.T) {
	ns := seedApps(t, nil)
	config := writeConfig(t, `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: true
strategies:
  zones: {type: ZoneSpread, schedule: "0 * * * *", args: {maxSkew: 1}}
`)
	if _, code := runEvenkeel(t, "run", "--once", "--config", config, "--lease-namespace", ns, "--push-url", stack.Pushgateway); code != 0 {
		t.Fatalf("exit %d", code)
	}
	answer := must.Get(http.Get(stack.Pushgateway + "/metrics"))(t)
	defer answer.Body.Close()
	text := must.Get(io.ReadAll(answer.Body))(t)
	want := fmt.Sprintf(`evenkeel_passes_total{instance="",job="evenkeel",mode="dryRun",release=%q,stopped="none",strategies="all"} 1`, ns)
	if !strings.Contains(string(text), want) {
		t.Errorf("the Pushgateway does not serve %s", want)
	}
}

// TestARealNodeExporter checks that the program assigns the metrics of a node_exporter to the node with its address,
// and to no other node.
func TestARealNodeExporter(t *testing.T) {
	addNode(t, usagestack.Node{Name: "here", Address: "127.0.0.1"})
	ns, created := seedApps(t, []seed.App{}), float64(time.Now().Unix()+1)
	waitUntil(t, "Prometheus has rates of the node_exporter", func() bool {
		got, err := stack.Query(t.Context(), `sum by (instance) (rate(node_cpu_seconds_total[20s]))`)
		return err == nil && got[stack.NodeExporter] > 0
	})
	// The program ignores metrics that are older than the node.
	waitUntil(t, "Prometheus has scraped the node_exporter since", func() bool {
		got, err := stack.Query(t.Context(), `max by (instance) (timestamp(node_cpu_seconds_total))`)
		return err == nil && got[stack.NodeExporter] > created
	})
	config := configFile(t, fmt.Sprintf(`
load: {source: prometheus, interval: 5s, statistic: latest, window: 1m, maxAge: 1m,
  prometheus: {url: %q, preset: nodeExporter, rateWindow: 20s}}
strategies:
  hot: {type: NodeLoad, schedule: "0 * * * *", args: {basis: load, target: {cpu: 0.60}}}
`, stack.Prometheus))
	stdout, code := runEvenkeel(t, "plan", "-o", "json", "--config", config, "--lease-namespace", ns)
	var plan testbed.Report
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil || code != 0 {
		t.Fatalf("exit %d: %v", code, err)
	}
	for _, n := range plan.Spec.Before.Nodes {
		_, cpu := n.UsedPerMille["cpu"]
		_, memory := n.UsedPerMille["memory"]
		if known := n.Name == "here"; cpu != known || memory != known {
			t.Errorf("node %s uses %v; want cpu and memory for node here, and none for other nodes", n.Name, n.UsedPerMille)
		}
	}
	if len(plan.Spec.Before.Nodes) != nodeCount+1 || len(plan.Spec.Moves) != 0 {
		t.Errorf("got %d nodes, want %d; got %d moves, want none", len(plan.Spec.Before.Nodes), nodeCount+1, len(plan.Spec.Moves))
	}
}
