package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// TestMarksOverTime adds one measurement of node a every 30 s, and checks the mark after each.
// "-" is a sample without the node; "=" repeats the last measurement.
func TestMarksOverTime(t *testing.T) {
	cpu := func(enter, leave float64, of int) window.LevelWatch {
		return window.LevelWatch{Name: "w", Resource: "cpu", Enter: enter, Leave: leave, For: of}
	}
	available := window.LevelWatch{Name: "w", Resource: "memory.available", Enter: 1024 << 20, Leave: 1536 << 20, Below: true, For: 1}
	for _, c := range []struct {
		name         string
		watch        window.LevelWatch
		values, want string
	}{
		{"strictly above", cpu(0.70, 0.70, 1), "712 700", "hot cool"},
		{"hysteresis", cpu(0.70, 0.60, 1), "710 690 610 590", "hot hot hot cool"},
		{"not hot at the leave level", cpu(0.70, 0.60, 1), "710 600", "hot cool"},
		{"binary fractions do not decide", cpu(0.29, 0.29, 1), "290 291", "cool hot"},
		{"in a row", cpu(0.70, 0.60, 3), "710 720 590 710 720 730 650 590", "1/3? 2/3? cool 1/3 2/3 hot hot cool"},
		{"between the levels resets the count", cpu(0.70, 0.60, 2), "500 710 650 710 720", "cool 1/2 cool 1/2 hot"},
		{"the same measurement counts once", cpu(0.70, 0.60, 3), "710 = = 720 = 730", "1/3? 1/3? 1/3? 2/3? 2/3? hot"},
		{"a missing sample neither counts nor resets", cpu(0.70, 0.60, 2), "500 710 - 720 - 590", "cool 1/2 1/2 hot hot cool"},
		{"after a long gap, counting restarts", cpu(0.70, 0.60, 2), "710 720 - - - - - - - 730 740",
			"1/2? hot hot hot hot hot hot hot unknown 1/2? hot"},
		{"between the levels after a restart: unknown", cpu(0.70, 0.60, 1), "650 650 590 650", "0/1? 0/1? cool cool"},
		{"less than", available, "900000000 812 1024 1100 1536", "hot hot hot hot cool"},
		{"812 MiB is below 1024", available, "851443712", "hot"},
		{"1024 MiB is not below 1024", available, "1073741824 2147483648", "0/1? cool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := window.New(testOptions(c.watch))
			var got []string
			last := usage.Reading{}
			for i, v := range strings.Fields(c.values) {
				s := usage.Sample{Taken: secondsAfterStart(30 * i), Nodes: map[string]usage.Reading{}}
				switch v {
				case "-":
				case "=":
					s.Nodes["a"] = last
				default:
					var n int64
					if _, err := fmt.Sscan(v, &n); err != nil {
						t.Fatal(err)
					}
					if c.watch.Resource == "memory.available" && n < 10000 {
						n <<= 20
					}
					last = usage.Reading{At: secondsAfterStart(30 * i), Used: map[string]int64{c.watch.Resource: n}}
					s.Nodes["a"] = last
				}
				w.Add(s, testNodes("a"), nil)
				got = append(got, describeState(w.Usage(secondsAfterStart(30*i))))
			}
			if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.values, diff)
			}
		})
	}
}

// describeState describes the usage of the only node.
func describeState(u *cluster.Usage) string {
	switch {
	case len(u.Nodes) == 0:
		return "unknown"
	case len(u.Marks) == 0:
		return "cool"
	case u.Marks[0].Hot:
		return "hot"
	}
	m := u.Marks[0]
	return fmt.Sprintf("%d/%d%s", m.Samples, m.Required, map[bool]string{true: "?"}[m.CountRestarted])
}

// TestRulesMayBeNegative checks that the query of a rule may return any number. The value is stored in millionths.
func TestRulesMayBeNegative(t *testing.T) {
	w := window.New(testOptions(window.LevelWatch{Name: "hints/frost", Resource: "rule:frost", Enter: -1.5, Leave: 0, Below: true, For: 1}))
	w.Add(usage.Sample{Taken: secondsAfterStart(0),
		Nodes: map[string]usage.Reading{"a": {At: secondsAfterStart(0), Used: map[string]int64{"rule:frost": -1_500_001}}}}, testNodes("a"), nil)
	if m := w.Usage(secondsAfterStart(0)).Marks; len(m) != 1 || !m[0].Hot || m[0].Value != -1.500001 {
		t.Errorf("%+v", m)
	}
}

// TestOvercommittedNode checks that usage is compared with the capacity of a node whose allocatable is larger.
func TestOvercommittedNode(t *testing.T) {
	for _, resource := range []string{"cpu", "memory"} {
		w := window.New(testOptions(window.LevelWatch{Name: "level", Resource: resource, Enter: 0.7, Leave: 0.6, For: 1}))
		n := testNode("a")
		used := n.Capacity.Get(resource) * 8 / 10
		n.Allocatable.MilliCPU *= 2
		n.Allocatable.MemoryBytes *= 2
		w.Add(usage.Sample{Taken: secondsAfterStart(0), Nodes: map[string]usage.Reading{
			"a": {At: secondsAfterStart(0), Used: map[string]int64{resource: used}}}}, []usage.Node{n}, nil)
		if m := w.Usage(secondsAfterStart(0)).Marks; len(m) != 1 || !m[0].Hot {
			t.Errorf("%s: %+v, want a hot node", resource, m)
		}
	}
}

// TestDeviationIsFromTotals checks the mean over nodes. A small node counts less than a large
// one. A node out of scope or with an old measurement does not count.
func TestDeviationIsFromTotals(t *testing.T) {
	w := window.New(testOptions(window.LevelWatch{Name: "level", Resource: "cpu", Enter: 0.10, Leave: 0.05, Deviation: true, For: 1}))
	large := testNode("large")
	large.Capacity.MilliCPU, large.Allocatable.MilliCPU = 9000, 9000
	idle := testNode("idle")
	idle.OutOfScope = true
	nodes := []usage.Node{large, testNode("small"), testNode("stale"), idle}
	s := cpuSample(600, map[string]int64{"large": 4500, "small": 601, "idle": 0})
	s.Nodes["stale"] = usage.Reading{At: secondsAfterStart(0), Used: map[string]int64{"cpu": 1000}}
	w.Add(s, nodes, nil)
	// mean (4500+601)/10000 = 0.5101, not (0.5+0.601)/2 = 0.5505: the level is 0.6101
	if u := w.Usage(secondsAfterStart(600)); len(u.Marks) != 1 || u.Marks[0].Node != "small" || u.Marks[0].Hot {
		t.Errorf("got %+v for 0.601 and 0.5 with the level at mean 0.5101 + 0.10", u.Marks)
	}
	w.Add(cpuSample(630, map[string]int64{"large": 4500, "small": 650}), nodes, nil)
	u := w.Usage(secondsAfterStart(630))
	var hot []string
	for _, m := range u.Marks {
		if m.Hot {
			hot = append(hot, m.Node)
		}
	}
	if diff := cmp.Diff([]string{"small"}, hot); diff != "" { // (4500+650)/10000 = 0.515: above 0.615
		t.Error(diff)
	}
}

func TestWatchesThatStayKeepTheirCounts(t *testing.T) {
	kept := window.LevelWatch{Name: "kept", Resource: "cpu", Enter: 0.5, Leave: 0.4, For: 2}
	gone := window.LevelWatch{Name: "gone", Resource: "cpu", Enter: 0.6, Leave: 0.4, For: 2}
	changed := gone
	changed.Enter = 0.7
	w := window.New(testOptions(gone, kept))
	w.Add(sampleOfNodeA(0, 900), testNodes("a"), nil)
	w.SetWatches([]window.LevelWatch{kept, changed})
	w.Add(sampleOfNodeA(30, 900), testNodes("a"), nil)
	want := []cluster.Mark{
		{Watch: "kept", Node: "a", Resource: "cpu", Hot: true, Samples: 2, Required: 2, Value: 0.9, Since: secondsAfterStart(0),
			At: secondsAfterStart(30)},
		{Watch: "gone", Node: "a", Resource: "cpu", Samples: 1, Required: 2, Value: 0.9, Since: secondsAfterStart(30),
			At: secondsAfterStart(30), CountRestarted: true},
	}
	if diff := cmp.Diff(want, w.Usage(secondsAfterStart(30)).Marks); diff != "" {
		t.Error(diff)
	}
}
