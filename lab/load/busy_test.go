package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
	"github.com/evenkeel-project/evenkeel/lab/usagestack"
)

// hintConfig is a configuration that taints nodes above 70 % CPU at the first sample. The taint expires so late that no
// test renews it.
const hintConfig = "hints: {enabled: true, ttl: 1h, taint: evenkeel.io/pressure," +
	" rules: [{name: cpu, resource: cpu, above: 0.70, clear: 0.30, for: 1}]}\n"

// loadStrategy is a configuration with a strategy that moves pods off nodes above 60 % CPU every minute.
const loadStrategy = `
strategies:
  hot: {type: NodeLoad, schedule: "* * * * *", args: {basis: load, target: {cpu: 0.60}, for: 1}}
limits: {perNamespace: 100%}
`

// busyApps returns apps whose pods request 1 % of a node each. After setUsage, they use 80 % of n1: two pods use 25 %
// each, six use 5 % each. The pods on the other nodes use 10 % of their node.
func busyApps() []seed.App {
	return []seed.App{
		{Name: "big", MilliCPU: 100, MemoryMi: 64, Nodes: repeatNode("n1", 2), GraceSeconds: 30,
			Annotations: usagestack.UsageAnnotations(2500, 64)},
		{Name: "small", MilliCPU: 100, MemoryMi: 64, Nodes: repeatNode("n1", 6), GraceSeconds: 30,
			Annotations: usagestack.UsageAnnotations(500, 64)},
		{Name: "quiet", MilliCPU: 100, MemoryMi: 64, Nodes: []string{"n2", "n3", "n4"}, GraceSeconds: 30,
			Annotations: usagestack.UsageAnnotations(1000, 64)},
		{Name: "plain", MilliCPU: 10, MemoryMi: 16, GraceSeconds: 1},
	}
}

// TestABusyNodeThatIsIdleByRequests checks a node with a high load and low requests. The node must get a hint within
// two samples, new pods must land elsewhere as predicted, and the pass must evict only one large pod. The hint must be
// removed when the load ends.
func TestABusyNodeThatIsIdleByRequests(t *testing.T) {
	forEachSource(t, func(t *testing.T, s source) {
		ns := seedApps(t, busyApps())
		stopUsage(t, ns)
		s.waitForCPU(t, map[string]float64{"n1": 0.8, "n2": 1, "n3": 1, "n4": 1})
		begun := time.Now()
		p := startProgram(t, ns, configFile(t, s.config()+hintConfig))
		p.waitForMetric(t, "evenkeel_usage_coverage_ratio 1\n")
		if hasHintTaint(getNode(t, "n1")) {
			t.Fatal("n1 has the hint while it is idle")
		}
		setUsage(t, ns, "big", 2500)
		setUsage(t, ns, "small", 500)
		checkHintDelay(t, p, s)

		added := scaleUp(t, ns, "plain", 50)
		if there := podsByNode(t, ns, "plain"); there["n1"] != 0 {
			t.Errorf("new pods by node: %v, want none on n1", there)
		}
		checkPredictions(t, ns, added)

		s.waitForCPU(t, map[string]float64{"n1": 8})
		p.replaceConfig(t, s.config()+hintConfig+loadStrategy)
		checkOneLargePodLeaves(t, p, ns)
		s.waitForCPU(t, map[string]float64{"n1": 5.5})
		if !hasHintTaint(getNode(t, "n1")) {
			t.Error("the hint was removed at 55 % load, want its removal below 30 %")
		}

		stopUsage(t, ns)
		var low time.Time
		p.waitUntil(t, "the hint is removed", func() bool {
			if got, err := s.cpu(t.Context()); err == nil && got["n1"] < 3 && low.IsZero() {
				low = time.Now()
			}
			return !hasHintTaint(getNode(t, "n1"))
		})
		t.Logf("the hint was removed %s after the source showed less than 30 %%", time.Since(low).Round(100*time.Millisecond))
		checkRequestCount(t, s, begun)
	})
}

// stopUsage makes the pods on n1 use almost nothing.
func stopUsage(t *testing.T, ns string) {
	t.Helper()
	setUsage(t, ns, "big", 100)
	setUsage(t, ns, "small", 100)
}

// checkHintDelay checks that n1 gets its hint within two sample periods after the source first shows the load, and that
// no other node gets a hint.
func checkHintDelay(t *testing.T, p *process, s source) {
	t.Helper()
	var shown time.Time
	p.waitUntil(t, "n1 has the hint", func() bool {
		got, err := s.cpu(t.Context())
		if err == nil && got["n1"] > 7 && shown.IsZero() {
			shown = time.Now()
		}
		return hasHintTaint(getNode(t, "n1"))
	})
	took := time.Duration(0) // the program may have sampled the source just before this test did
	if !shown.IsZero() {
		took = time.Since(shown)
	}
	t.Logf("the hint was set %s after the source showed the load; the sample period is %s", took.Round(100*time.Millisecond), interval)
	if took > 2*interval {
		t.Errorf("the hint was set after %s, want at most two sample periods of %s", took, interval)
	}
	for _, other := range []string{"n2", "n3", "n4"} {
		if hasHintTaint(getNode(t, other)) {
			t.Errorf("node %s has the hint, want the hint only on n1", other)
		}
	}
}

// checkOneLargePodLeaves checks that one eviction of a 25 % pod reduces n1 from 80 % to below 60 %, and that the next
// two passes evict no pod.
func checkOneLargePodLeaves(t *testing.T, p *process, ns string) {
	t.Helper()
	p.waitUntil(t, "a pass evicts", func() bool {
		return slices.ContainsFunc(p.reports(), func(r testbed.Report) bool { return len(r.Outcomes()) > 0 })
	})
	for _, r := range p.reports() {
		for _, o := range r.Outcomes() {
			if o.Landed == "n1" || !o.AsPredicted {
				t.Errorf("the replacement of %s landed on %s, which was not predicted", o.Pod.Name, o.Landed)
			}
		}
	}
	p.waitForReports(t, len(p.reports())+2)
	granted, refused := auditedEvictions(t, ns)
	if len(granted) != 1 || refused != 0 || !strings.HasPrefix(granted[0], "big-") {
		t.Errorf("evictions %q, %d refused; want one pod of big and none refused", granted, refused)
	}
}

// checkRequestCount checks the number of the program's API requests since a time: two per sample with metrics-server,
// none with Prometheus, and one patch each to set and remove the hint. Patches that conflict with a heartbeat are
// repeated and do not count.
func checkRequestCount(t *testing.T, s source, since time.Time) {
	t.Helper()
	periods := int(time.Since(since)/interval) + 1
	ofNodes, _ := auditedRequests(t, since, "list", "metrics.k8s.io", "nodes")
	ofPods, _ := auditedRequests(t, since, "list", "metrics.k8s.io", "pods")
	patched, again := auditedRequests(t, since, "patch", "", "nodes")
	updated, _ := auditedRequests(t, since, "update", "", "nodes")
	t.Logf("%d requests to the metrics API, %d patches of nodes (%d conflicts) and %d updates in %d sample periods",
		ofNodes+ofPods, patched, again, updated, periods)
	most := 0
	if s.name == "metricsServer" {
		most = 2 * periods
	}
	if ofNodes+ofPods > most || patched-again != 2 || updated != 0 {
		t.Errorf("want at most %d requests to the metrics API, 2 node patches without a conflict, and no update", most)
	}
}
