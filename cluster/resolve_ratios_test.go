package cluster

import (
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestRatiosOfPods checks what pods free of a ratio of their node: their own ratio if the ratios add up to at most that
// of the node, and otherwise their share of it.
func TestRatiosOfPods(t *testing.T) {
	u := newUsageFixture("prometheus", "n1", "n2")
	for _, p := range []struct {
		name, node string
		stall      int64
	}{{"a", "n1", 400_000}, {"b", "n1", 400_000}, {"c", "n1", 0}, {"d", "n1", -1}, {"e", "n2", 100_000}, {"f", "n2", 200_000}} {
		u.addPod(p.name, p.name, p.node, 100, -time.Hour)
		m := PodUsage{Namespace: "shop", Name: p.name, UID: "uid-" + p.name, Node: p.node, Used: map[string]int64{"cpu": 10}}
		if p.stall >= 0 {
			m.Used["stall"] = p.stall
		}
		u.o.Usage.Pods = append(u.o.Usage.Pods, m)
	}
	for name, stall := range map[string]int64{"n1": 640_000, "n2": 500_000} {
		u.o.Usage.Nodes = append(u.o.Usage.Nodes, NodeUsage{Name: name, At: sampleTime, Used: map[string]int64{"cpu": 1000, "stall": stall, "disk": 1}})
	}
	s := must.Get(New(u.o))(t)
	a := s.Amounts(Measure{ByUsage: true, Resource: "stall"}, UsageRequirements{})
	n1, n2 := s.NodeByName("n1").ID, s.NodeByName("n2").ID
	for name, want := range map[string][3]int64{ // on n1, on n2, quality
		"a": {320_000, 400_000, int64(Measured)}, "b": {320_000, 400_000, int64(Measured)}, "c": {0, 0, int64(Measured)},
		"d": {0, 0, int64(Unknown)}, "e": {100_000, 100_000, int64(Measured)}, "f": {200_000, 200_000, int64(Measured)},
	} {
		id := s.PodByKey("shop/" + name).ID
		if got := [3]int64{a.Contribution(id, n1), a.Contribution(id, n2), int64(a.PodQuality(id))}; got != want {
			t.Errorf("pod %s: %v, want %v", name, got, want)
		}
	}
	if !s.Usage.MeasuresPods("stall") || s.Usage.MeasuresPods("disk") || s.Usage.MeasuresPods("net") {
		t.Error("the source measures only cpu and stall of pods")
	}
}
