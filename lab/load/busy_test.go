package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/loadbed"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// hinted is a taint on nodes above 70 % of their CPU, at the first sample. It lives long
// enough not to be renewed within a test.
const hinted = "hints: {enabled: true, ttl: 1h, taint: {enabled: true}, rules: [{name: cpu, resource: cpu, above: 0.70, clearBelow: 0.30, for: 1}]}\n"

// byLoad takes pods off nodes above 60 %, each minute.
const byLoad = `
strategies:
- {name: hot, type: NodeLoad, schedule: "* * * * *", args: {basis: load, target: {cpu: 0.60}, for: 1}}
limits: {perNamespace: 100%}
`

// busyApps are pods that request a hundredth of a node each and, once told to, take 80 %
// of n1: two of 25 % and six of 5 %. The other nodes are used to a tenth.
func busyApps() []seed.App {
	return []seed.App{
		{Name: "big", MilliCPU: 100, MemoryMi: 64, On: on("n1", 2), GraceSeconds: 30, Annotations: loadbed.Use(2500, 64)},
		{Name: "small", MilliCPU: 100, MemoryMi: 64, On: on("n1", 6), GraceSeconds: 30, Annotations: loadbed.Use(500, 64)},
		{Name: "quiet", MilliCPU: 100, MemoryMi: 64, On: []string{"n2", "n3", "n4"}, GraceSeconds: 30, Annotations: loadbed.Use(1000, 64)},
		{Name: "plain", MilliCPU: 10, MemoryMi: 16, GraceSeconds: 1},
	}
}

// TestABusyNodeThatIsIdleByRequests: it gets its hint in time, new pods go elsewhere as
// foretold, the one large pod leaves that is enough, and the hint goes with the load.
func TestABusyNodeThatIsIdleByRequests(t *testing.T) {
	withEach(t, func(t *testing.T, s source) {
		ns := scenario(t, busyApps())
		idle(t, ns)
		s.awaitCPU(t, map[string]float64{"n1": 0.8, "n2": 1, "n3": 1, "n4": 1})
		begun := time.Now()
		p := start(t, ns, configFile(t, s.config()+hinted))
		p.awaitMetric(t, "evenkeel_load_coverage_ratio 1\n")
		if tainted(node(t, "n1")) {
			t.Fatal("an idle node has the hint")
		}
		setUse(t, ns, "big", 2500)
		setUse(t, ns, "small", 500)
		hintInTime(t, p, s)

		added := grow(t, ns, "plain", 50)
		if there := podsByNode(t, ns, "plain"); there["n1"] != 0 {
			t.Errorf("new pods by node: %v; want none on n1", there)
		}
		landedAsPredicted(t, ns, added)

		s.awaitCPU(t, map[string]float64{"n1": 8})
		p.change(t, s.config()+hinted+byLoad)
		fewestLeave(t, p, ns)
		s.awaitCPU(t, map[string]float64{"n1": 5.5})
		if !tainted(node(t, "n1")) {
			t.Error("the hint went at 55 %, which is not below 30 %")
		}

		idle(t, ns)
		var low time.Time
		p.await(t, "the hint goes", func() bool {
			if got, err := s.cpu(t.Context()); err == nil && got["n1"] < 3 && low.IsZero() {
				low = time.Now()
			}
			return !tainted(node(t, "n1"))
		})
		t.Logf("the hint went %s after the source showed less than 30 %%", time.Since(low).Round(100*time.Millisecond))
		frugal(t, s, begun)
	})
}

// idle has the pods on n1 use next to nothing.
func idle(t *testing.T, ns string) {
	t.Helper()
	setUse(t, ns, "big", 100)
	setUse(t, ns, "small", 100)
}

// hintInTime: two periods after the source showed the load first, n1 has its hint, and
// no other node has.
func hintInTime(t *testing.T, p *process, s source) {
	t.Helper()
	var shown time.Time
	p.await(t, "n1 has the hint", func() bool {
		got, err := s.cpu(t.Context())
		if err == nil && got["n1"] > 7 && shown.IsZero() {
			shown = time.Now()
		}
		return tainted(node(t, "n1"))
	})
	took := time.Duration(0) // the program may have asked just before us
	if !shown.IsZero() {
		took = time.Since(shown)
	}
	t.Logf("the hint came %s after the source showed the load; it is asked every %s", took.Round(100*time.Millisecond), interval)
	if took > 2*interval {
		t.Errorf("the hint took %s, more than two sample periods of %s", took, interval)
	}
	for _, other := range []string{"n2", "n3", "n4"} {
		if tainted(node(t, other)) {
			t.Errorf("%s has the hint as well", other)
		}
	}
}

// fewestLeave: of 80 % on n1, with 60 % wanted, one pod of 25 % leaves, and then nothing
// does for another two passes.
func fewestLeave(t *testing.T, p *process, ns string) {
	t.Helper()
	p.await(t, "a pass evicts", func() bool {
		return slices.ContainsFunc(p.reports(), func(r report) bool { return len(r.Outcomes) > 0 })
	})
	for _, r := range p.reports() {
		for _, o := range r.Outcomes {
			if o.Landed == "n1" || o.LandedAsPredicted == nil || !*o.LandedAsPredicted {
				t.Errorf("%s landed on %s, not as foretold", o.Pod.Name, o.Landed)
			}
		}
	}
	p.awaitReports(t, len(p.reports())+2)
	granted, refused := evicted(t, ns)
	if len(granted) != 1 || refused != 0 || !strings.HasPrefix(granted[0], "big-") {
		t.Errorf("evictions %q and %d refused; want one, of a pod of big", granted, refused)
	}
}

// frugal: what the program asked of the API server since then is two requests for each
// sample of metrics-server, none for Prometheus, and a patch when the hint came and
// one when it went. A patch that met the heartbeat of the node is made again.
func frugal(t *testing.T, s source, since time.Time) {
	t.Helper()
	periods := int(time.Since(since)/interval) + 1
	ofNodes, _ := requests(t, since, "list", "metrics.k8s.io", "nodes")
	ofPods, _ := requests(t, since, "list", "metrics.k8s.io", "pods")
	patched, again := requests(t, since, "patch", "", "nodes")
	updated, _ := requests(t, since, "update", "", "nodes")
	t.Logf("%d requests to the metrics API, %d patches of nodes, of which %d met a newer node, and %d updates in %d sample periods", ofNodes+ofPods, patched, again, updated, periods)
	most := 0
	if s.name == "metricsServer" {
		most = 2 * periods
	}
	if ofNodes+ofPods > most || patched-again != 2 || updated != 0 {
		t.Errorf("want at most %d requests to the metrics API, 2 patches of nodes beside those that met a newer one, and no update", most)
	}
}
