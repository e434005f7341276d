package load

import (
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/usagestack"
)

// deviationStrategy is a strategy that keeps nodes at most the given distance above the mean. Because rates over four
// scrapes have an error of a few percent, the scenarios keep a distance of two percentage points from the limits.
func deviationStrategy(deviation string) string {
	return `
strategies:
  level: {type: NodeLoad, schedule: "0 * * * *", args: {basis: load, deviation: {cpu: ` + deviation + `}}}
limits: {perNamespace: 100%}
evictor: {perMinute: unlimited}
`
}

// rateDelay is the rate window plus one scrape interval. After this delay, rates contain no older usage.
const rateDelay = 25 * time.Second

// workerApp returns an app whose pods use 5 % of a small node and request 1 %.
func workerApp(places ...[]string) seed.App {
	a := seed.App{Name: "worker", MilliCPU: 100, MemoryMi: 64, GraceSeconds: 30, Annotations: usagestack.UsageAnnotations(500, 64)}
	for _, p := range places {
		a.Nodes = append(a.Nodes, p...)
	}
	return a
}

// minimalUsageApp returns an app that makes every node use some CPU, because metrics-server has no metrics of a node
// without usage.
func minimalUsageApp(nodes ...string) seed.App {
	return seed.App{Name: "breath", MilliCPU: 10, MemoryMi: 16, Nodes: nodes, GraceSeconds: 1,
		Annotations: usagestack.UsageAnnotations(10, 16)}
}

// TestANewEmptyNodeFills has four nodes at 40 % and a fifth empty node; the mean is 32 %. One pod must move from each
// full node to the empty node.
func TestANewEmptyNodeFills(t *testing.T) {
	forEachSource(t, func(t *testing.T, s source) {
		skipPrometheusIfShort(t, s)
		addNode(t, usagestack.Node{Name: "fresh", Address: "10.0.1.1"})
		ns := seedApps(t, []seed.App{workerApp(repeatNode("n1", 8), repeatNode("n2", 8), repeatNode("n3", 8), repeatNode("n4", 8)),
			minimalUsageApp("fresh")})
		s.waitForSteadyCPU(t, map[string]float64{"n1": 4, "n2": 4, "n3": 4, "n4": 4, "fresh": 0}, rateDelay)
		s.waitForPods(t, ns, 33)
		r := runSinglePass(t, ns, configFile(t, s.config()+deviationStrategy("0.06")))
		granted, refused := auditedEvictions(t, ns)
		if len(granted) != 4 || refused != 0 || r.Spec.Minimum.Evictions != 4 {
			t.Errorf("%d evictions, %d refused, want 4 and none; the lower bound is %d, want 4", len(granted), refused,
				r.Spec.Minimum.Evictions)
		}
		if there := podsByNode(t, ns, "worker"); there["fresh"] != 4 {
			t.Errorf("pods by node: %v, want 4 on the new node", there)
		}
		s.waitForCPU(t, map[string]float64{"n1": 3.5, "n2": 3.5, "n3": 3.5, "n4": 3.5, "fresh": 2})
	})
}

// TestUnequalNodesLevelByShare has n1 at 5 of 10 cores, wide at 5.5 of 20, and the other nodes at 2 of 10; the mean is
// 27.5 %. Node wide uses the most cores, but n1 has the highest fraction: four pods of n1 must move, and none of
// wide's.
func TestUnequalNodesLevelByShare(t *testing.T) {
	forEachSource(t, func(t *testing.T, s source) {
		skipPrometheusIfShort(t, s)
		addNode(t, usagestack.Node{Name: "wide", CPU: 20, Address: "10.0.1.2"})
		ns := seedApps(t, []seed.App{workerApp(repeatNode("n1", 10), repeatNode("n2", 4),
			repeatNode("n3", 4), repeatNode("n4", 4), repeatNode("wide", 11))})
		s.waitForSteadyCPU(t, map[string]float64{"n1": 5, "n2": 2, "n3": 2, "n4": 2, "wide": 5.5}, rateDelay)
		s.waitForPods(t, ns, 33)
		config := configFile(t, s.config()+deviationStrategy("0.05"))
		r := runSinglePass(t, ns, config)
		granted, refused := auditedEvictions(t, ns)
		if left := 4 - len(granted); left > 0 && len(granted) > 0 {
			// A usage sample that is taken while pods move misses some pods. The program then drops the moves that no
			// longer help, and the next pass plans them again.
			t.Logf("%d of 4 evicted, because a sample was taken in between", len(granted))
			s.waitForSteadyCPU(t, map[string]float64{"n1": 3 + 0.5*float64(left), "wide": 5.5}, rateDelay)
			runSinglePass(t, ns, config)
			granted, refused = auditedEvictions(t, ns)
		}
		if len(granted) != 4 || refused != 0 || len(r.Spec.Moves) != 4 || r.Spec.Minimum.Evictions != 4 {
			t.Errorf("%d evictions, %d refused of %d planned, want 4 and none; the lower bound is %d, want 4",
				len(granted), refused, len(r.Spec.Moves), r.Spec.Minimum.Evictions)
		}
		if there := podsByNode(t, ns, "worker"); there["n1"] != 6 || there["wide"] < 11 {
			t.Errorf("pods by node: %v, want 6 on n1 and at least 11 on wide", there)
		}
	})
}

// skipPrometheusIfShort skips Prometheus in short mode, because other short tests cover both sources.
func skipPrometheusIfShort(t *testing.T, s source) {
	t.Helper()
	if testing.Short() && s.name == "prometheus" {
		t.Skip("-short runs this with metrics-server only; run `make test-load` for Prometheus")
	}
}
