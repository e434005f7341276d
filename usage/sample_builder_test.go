package usage

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// threeNodes returns three nodes with 4 CPUs and 8 GiB each.
func threeNodes() []Node {
	var out []Node
	for i := range 3 {
		out = append(out, Node{Name: fmt.Sprintf("n%d", i+1), Hostname: "host", InternalIPs: []string{fmt.Sprintf("10.0.0.%d", i+1)},
			Capacity: cluster.Resources{MilliCPU: 4000, MemoryBytes: 8 << 30}})
	}
	return out
}

func cpuValues(values ...float64) []Value {
	var out []Value
	for i, v := range values {
		out = append(out, Value{fmt.Sprintf("10.0.0.%d:9100", i+1), v, noon})
	}
	return out
}

func TestWhatIsBelievedAboutNodes(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	old := func(v []Value, n int, age time.Duration) []Value { v[n].At = noon.Add(-age); return v }
	as := func(v []Value, n int, name string) []Value { v[n].Node = name; return v }
	for name, c := range map[string]struct {
		resource string
		unit     Unit
		values   []Value
		used     string // by node, in order
		problems []Problem
	}{
		"shares":                  {"cpu", Share, cpuValues(0.5, 0.25, 0), "n1=2000 n2=1000 n3=0", nil},
		"cores":                   {"cpu", Cores, cpuValues(0.0004, 3.9, 4.9), "n1=0 n2=3900 n3=4900", nil},
		"bytes":                   {"memory", Bytes, cpuValues(1<<30, 1, 8<<30), "n1=1073741824 n2=1 n3=8589934592", nil},
		"other fractions":         {"disk", Fraction, cpuValues(0.5, 1, 1.2), "n1=500000 n2=1000000 n3=1200000", nil},
		"numbers":                 {"rule:a", Number, cpuValues(71.2, -812, 1<<40), "n1=71200000 n2=-812000000 n3=1099511627776000000", nil},
		"a rounding error of 1-1": {"cpu", Share, cpuValues(-1e-16, 0, 0), "n1=0 n2=0 n3=0", nil},
		"not numbers": {"cpu", Share, cpuValues(nan, inf, 0.5), "n3=2000",
			[]Problem{{NotANumber, "cpu: not a finite number for n1, n2"}}},
		"minus infinity": {"rule:a", Number, cpuValues(-inf, 1, 1), "n2=1000000 n3=1000000",
			[]Problem{{NotANumber, "rule:a: not a finite number for n1"}}},
		"negative": {"cpu", Cores, cpuValues(-0.1, 1, 1), "n2=1000 n3=1000", []Problem{{Implausible, "cpu: negative for n1"}}},
		"a wrong base": {"cpu", Share, cpuValues(1.3, 0.5, 0.5), "n2=2000 n3=2000",
			[]Problem{{Implausible, "cpu: far above 1 (want 0..1) for n1"}}},
		"percentages": {"cpu", Share, cpuValues(0.9, 0.7, 71), "",
			[]Problem{{Implausible, "cpu: 71 for 10.0.0.3:9100 is not a ratio (want 0..1; is it a percentage?); all 3 values are rejected"}}},
		"bytes for shares": {"memory", Share, cpuValues(0.5, 1e9, 1e9), "n1=4294967296",
			[]Problem{{Implausible, "memory: far above 1 (want 0..1) for n2, n3"}}},
		"a counter reset": {"cpu", Cores, cpuValues(1, 1, 1e6), "n1=1000 n2=1000",
			[]Problem{{Implausible, "cpu: far above the capacity of n3"}}},
		"too many bytes": {cluster.MemoryAvailable, Bytes, cpuValues(1<<30, 1<<30, 20<<30), "n1=1073741824 n2=1073741824",
			[]Problem{{Implausible, "memory.available: far above the capacity of n3"}}},
		"too large": {"rule:a", Number, cpuValues(1, 1, 1e18), "n1=1000000 n2=1000000",
			[]Problem{{Implausible, "rule:a: the number is too large for n3"}}},
		"nothing":        {"cpu", Share, nil, "", []Problem{{Empty, "cpu: the answer has no values"}}},
		"one is missing": {"cpu", Share, cpuValues(0.5, 0.5), "n1=2000 n2=2000", []Problem{{Missing, "cpu: no value for n3"}}},
		"just in time":   {"cpu", Share, old(cpuValues(0, 0, 0), 0, 3*time.Minute), "n1=0 n2=0 n3=0", nil},
		"stale": {"cpu", Share, old(cpuValues(0, 0, 0), 0, 3*time.Minute+1), "n2=0 n3=0",
			[]Problem{{Stale, "cpu: measured more than 3m0s ago for n1"}}},
		"a clock ahead": {"cpu", Share, old(cpuValues(0, 0, 0), 0, -time.Minute), "n1=0 n2=0 n3=0", nil},
		"the future": {"cpu", Share, old(cpuValues(0, 0, 0), 0, -time.Minute-1), "n2=0 n3=0",
			[]Problem{{Stale, "cpu: measured in the future for n1"}}},
		"unknown": {"cpu", Share, as(cpuValues(0, 0, 0), 2, "db-1:9100"), "n1=0 n2=0",
			[]Problem{{Missing, "cpu: no value for n3"}, {UnknownNode, "cpu: unknown node name db-1:9100"}}},
		"twice, and equal": {"cpu", Share, as(cpuValues(0, 0, 0), 2, "n2"), "n1=0",
			[]Problem{{Ambiguous, "cpu: more than one value for n2"}, {Missing, "cpu: no value for n3"}}},
		"any of three": {"cpu", Share, append(cpuValues(0.5), Value{"host", 0, noon}), "n1=2000", []Problem{
			{Ambiguous, "cpu: ambiguous node name host"}, {Missing, "cpu: no value for n2, n3"}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewSampleBuilder(threeNodes(), noon, 3*time.Minute)
			g.AddNodes(c.resource, c.unit, c.values)
			s := g.Sample()
			var used []string
			for _, n := range threeNodes() {
				if v, ok := s.Nodes[n.Name].Used[c.resource]; ok {
					used = append(used, fmt.Sprintf("%s=%d", n.Name, v))
				}
			}
			if got := strings.Join(used, " "); got != c.used {
				t.Errorf("%s, want %s", got, c.used)
			}
			if d := cmp.Diff(c.problems, s.Problems); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWorkingSetsTellWhatIsAvailable(t *testing.T) {
	g := NewSampleBuilder(threeNodes(), noon, time.Minute)
	g.AddNodes("memory", Bytes, cpuValues(7<<30, 8<<30+5))
	g.DeriveMemoryAvailable()
	s := g.Sample()
	if a, b := s.Nodes["n1"].Used[cluster.MemoryAvailable], s.Nodes["n2"].Used[cluster.MemoryAvailable]; a != 1<<30 || b != 0 {
		t.Errorf("%d and %d", a, b)
	}
	if _, known := s.Nodes["n3"]; known {
		t.Error("n3 is known")
	}
}

// TestReadingsAreAsOldAsTheirOldestPart checks that an old memory value does not count as new if
// the cpu value is new.
func TestReadingsAreAsOldAsTheirOldestPart(t *testing.T) {
	g := NewSampleBuilder(threeNodes(), noon, time.Minute)
	g.AddNodes("cpu", Share, []Value{{"n1", 0, noon.Add(-2 * time.Second)}})
	g.AddNodes("memory", Share, []Value{{"n1", 0, noon.Add(-40 * time.Second)}})
	g.AddPods("cpu", Cores, []PodValue{{"a", "p", 1, noon.Add(-50 * time.Second)}})
	g.AddPods("memory", Bytes, []PodValue{{"a", "p", 1, noon}})
	s := g.Sample()
	if got := s.Nodes["n1"]; noon.Sub(got.At) != 40*time.Second || len(got.Times) != 1 || noon.Sub(got.Times["cpu"]) != 2*time.Second {
		t.Errorf("%+v", got)
	}
	want := Reading{At: noon.Add(-50 * time.Second), Used: map[string]int64{"cpu": 1000, "memory": 1}}
	if d := cmp.Diff(want, s.Pods["a/p"]); d != "" {
		t.Error(d)
	}
}

func TestWhatIsBelievedAboutPods(t *testing.T) {
	g := NewSampleBuilder(threeNodes(), noon, time.Minute)
	pod := func(name string, v float64) PodValue { return PodValue{"a", name, v, noon} }
	g.AddPods("cpu", Cores, []PodValue{pod("ok", 0.1), pod("nan", math.NaN()), pod("huge", 9), pod("minus", -1), pod("twice", 1),
		pod("twice", 1),
		pod("", 1), {"a", "old", 1, noon.Add(-time.Hour)}})
	g.AddPods("memory", Bytes, nil)
	s := g.Sample()
	if d := cmp.Diff(map[string]Reading{"a/ok": {At: noon, Used: map[string]int64{"cpu": 100}}}, s.Pods); d != "" {
		t.Error(d)
	}
	want := []Problem{
		{Ambiguous, "cpu of pods: more than one value for a/twice"},
		{Empty, "memory of pods: the answer has no values"},
		{Implausible, "cpu of pods: far above the capacity of a/huge"},
		{Implausible, "cpu of pods: negative for a/minus"},
		{Implausible, "cpu of pods: without a namespace or a name a/"},
		{NotANumber, "cpu of pods: not a finite number for a/nan"},
		{Stale, "cpu of pods: measured more than 1m0s ago for a/old"},
	}
	if d := cmp.Diff(want, s.Problems); d != "" {
		t.Error(d)
	}
}

// TestRatiosOfPods checks the ratios of pods of a resource other than cpu and memory.
func TestRatiosOfPods(t *testing.T) {
	pod := func(name string, v float64) PodValue { return PodValue{"a", name, v, noon} }
	g := NewSampleBuilder(threeNodes(), noon, time.Minute)
	g.AddPods("cpu", Cores, []PodValue{pod("ok", 0.1)})
	g.AddPods("stall", Fraction, []PodValue{pod("ok", 0.25), pod("only", 1.2), pod("huge", 1.3), pod("minus", -1)})
	s := g.Sample()
	if d := cmp.Diff(map[string]Reading{"a/ok": {At: noon, Used: map[string]int64{"cpu": 100, "stall": 250_000}},
		"a/only": {At: noon, Used: map[string]int64{"stall": 1_200_000}}}, s.Pods); d != "" {
		t.Error(d)
	}
	want := []Problem{{Implausible, "stall of pods: far above 1 (want 0..1) for a/huge"}, {Implausible, "stall of pods: negative for a/minus"}}
	if d := cmp.Diff(want, s.Problems); d != "" {
		t.Error(d)
	}
	g = NewSampleBuilder(threeNodes(), noon, time.Minute)
	g.AddPods("stall", Fraction, []PodValue{pod("ok", 0.9), pod("much", 40)})
	if s := g.Sample(); len(s.Pods) > 0 || len(s.Problems) != 1 || s.Problems[0].Kind != Implausible {
		t.Errorf("percentages: %v, problems %v, want the whole answer rejected", s.Pods, s.Problems)
	}
}

func TestProblemsAreBoundedAndHoldNoSecrets(t *testing.T) {
	g := NewSampleBuilder(threeNodes(), noon, time.Minute)
	var values []Value
	for i := range 5000 {
		values = append(values, Value{fmt.Sprintf("vm-%04d", 4999-i), 0, noon})
	}
	values = append(values, Value{"http://me:hunter2@vm\n" + strings.Repeat("x", 1000), 0, noon})
	g.AddNodes("cpu", Share, values)
	g.AddProblem(Unreachable, `Get "https://me:hunter2@prometheus/api": refused`)
	g.AddProblem(Unreachable, `Get "https://me:hunter2@prometheus/api": refused`)
	want := []Problem{
		{Missing, "cpu: no value for n1, n2, n3"},
		{UnknownNode, "cpu: unknown node name http://vm " + strings.Repeat("x", 70) + "..., vm-0000, vm-0001, vm-0002, vm-0003 and 4996 more"},
		{Unreachable, `Get "https://prometheus/api": refused`},
	}
	if d := cmp.Diff(want, g.Sample().Problems); d != "" {
		t.Error(d)
	}
}
