package window_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const gib = 1 << 30

// onNodeA returns the location of a pod on node a.
func onNodeA(string) (window.PodPlace, bool) { return window.PodPlace{Node: "a"}, true }

func secondsAfterStart(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func testOptions(watches ...window.LevelWatch) window.Options {
	return window.Options{Source: "prometheus", Statistic: window.P90, Window: 5 * time.Minute, MaxAge: 3 * time.Minute,
		RateWindow: time.Minute, Interval: 30 * time.Second, Watches: watches}
}

// testNode returns a node with 1000 milliCPU and 10 GiB, all of it allocatable.
func testNode(name string) usage.Node {
	r := cluster.Resources{MilliCPU: 1000, MemoryBytes: 10 * gib}
	return usage.Node{Name: name, UID: name, Capacity: r, Allocatable: r}
}

func testNodes(names ...string) []usage.Node {
	var out []usage.Node
	for _, n := range names {
		out = append(out, testNode(n))
	}
	return out
}

// cpuSample returns a sample with cpu of nodes, measured when it was taken.
func cpuSample(seconds int, cpu map[string]int64) usage.Sample {
	s := usage.Sample{Taken: secondsAfterStart(seconds), Nodes: map[string]usage.Reading{}}
	for n, v := range cpu {
		s.Nodes[n] = usage.Reading{At: secondsAfterStart(seconds), Used: map[string]int64{"cpu": v}}
	}
	return s
}

func sampleOfNodeA(seconds int, cpu int64) usage.Sample {
	return cpuSample(seconds, map[string]int64{"a": cpu})
}

func TestStatisticsOverTheWindow(t *testing.T) {
	// With 30 s between samples and the newest at 360 s, the window contains those from 90 s to 360 s.
	values := []int64{900, 900, 900, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}
	for statistic, want := range map[window.Statistic]int64{
		window.Latest: 1000, window.Mean: 550, window.P90: 910, window.P95: 955, window.Max: 1000,
	} {
		o := testOptions()
		o.Statistic = statistic
		w := window.New(o)
		for i, v := range values {
			s := sampleOfNodeA(30*i, v)
			s.Pods = map[string]usage.Reading{"shop/web": {At: secondsAfterStart(30 * i), Used: map[string]int64{"cpu": v, "memory": v * 4096}}}
			w.Add(s, testNodes("a"), onNodeA)
		}
		u := w.Usage(secondsAfterStart(380))
		if u.Samples != 10 || !u.SampledAt.Equal(secondsAfterStart(360)) || u.Statistic != string(statistic) ||
			u.WindowSeconds != 300 || u.RateSeconds != 60 {
			t.Errorf("%s: %d samples, the newest of %s, %s over %v s", statistic, u.Samples, u.SampledAt, u.Statistic, u.WindowSeconds)
		}
		node := cluster.NodeUsage{Name: "a", At: secondsAfterStart(360), Used: map[string]int64{"cpu": want},
			Deviation: map[string]int64{"cpu": 287}}
		if diff := cmp.Diff([]cluster.NodeUsage{node}, u.Nodes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", statistic, diff)
		}
		pod := cluster.PodUsage{Namespace: "shop", Name: "web", Node: "a", At: secondsAfterStart(360),
			Used: map[string]int64{"cpu": want, "memory": want * 4096}}
		if diff := cmp.Diff([]cluster.PodUsage{pod}, u.Pods); diff != "" {
			t.Errorf("%s (-want +got):\n%s", statistic, diff)
		}
	}
}

func TestWhatIsOldIsUnknown(t *testing.T) {
	w := window.New(testOptions())
	s := sampleOfNodeA(0, 500)
	s.Nodes["b"] = usage.Reading{At: secondsAfterStart(-170), Used: map[string]int64{"cpu": 1}}
	s.Nodes["c"] = usage.Reading{At: secondsAfterStart(90), Used: map[string]int64{"cpu": 1}} // a clock that is far ahead
	s.Pods = map[string]usage.Reading{
		"shop/young": {At: secondsAfterStart(0), Used: map[string]int64{"cpu": 1}},
		"shop/old":   {At: secondsAfterStart(-170), Used: map[string]int64{"cpu": 1}},
	}
	w.Add(s, testNodes("a", "b", "c"), onNodeA)
	for seconds, want := range map[int]string{0: "a b /old /young", 11: "a /young", 180: "a /young", 181: ""} {
		u := w.Usage(secondsAfterStart(seconds))
		var got []string
		for _, n := range u.Nodes {
			got = append(got, n.Name)
		}
		for _, p := range u.Pods {
			got = append(got, "/"+p.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("after %d s: %v, want %s", seconds, got, want)
		}
	}
	nodes := testNodes("a", "b", "c", "d")
	if c := w.Coverage(secondsAfterStart(0), nodes); c != 0.5 {
		t.Errorf("coverage is %v with 2 of 4 nodes known", c)
	}
	nodes[0].NotSelected = true
	if c := w.Coverage(secondsAfterStart(0), nodes); c != 1.0/3 {
		t.Errorf("coverage is %v with 1 of 3 selected nodes known", c)
	}
	nodes[1].NotSelected, nodes[2].NotSelected, nodes[3].NotSelected = true, true, true
	if c := w.Coverage(secondsAfterStart(0), nodes); c != 0 {
		t.Errorf("coverage is %v without selected nodes", c)
	}
}

// TestAResourceAlone checks a node that reports only memory. The node's cpu is unknown once the
// last measurement is too old.
func TestAResourceAlone(t *testing.T) {
	w := window.New(testOptions())
	w.Add(sampleOfNodeA(0, 500), testNodes("a"), nil)
	for i := 1; i <= 7; i++ {
		w.Add(usage.Sample{Taken: secondsAfterStart(30 * i),
			Nodes: map[string]usage.Reading{"a": {At: secondsAfterStart(30 * i), Used: map[string]int64{"memory": gib, "cpu": -1}}}},
			testNodes("a"), nil)
	}
	if diff := cmp.Diff(map[string]int64{"memory": gib}, w.Usage(secondsAfterStart(210)).Nodes[0].Used); diff != "" {
		t.Error(diff)
	}
}

// TestEachResourceHasItsTime measures cpu every 30 s and a pushed value every minute. Neither
// resource may hide a new value of the other or count twice.
func TestEachResourceHasItsTime(t *testing.T) {
	w := window.New(testOptions(
		window.LevelWatch{Name: "cpu", Resource: "cpu", Enter: 0.70, Leave: 0.60, For: 3},
		window.LevelWatch{Name: "left", Resource: "memory.available", Enter: gib, Leave: 2 * gib, Below: true, For: 3},
	))
	var got []string
	for i := range 5 {
		pushed := secondsAfterStart(60 * (i / 2)) // never newer than cpu
		w.Add(usage.Sample{Taken: secondsAfterStart(30 * i), Nodes: map[string]usage.Reading{"a": {
			At: secondsAfterStart(30 * i), Times: map[string]time.Time{"memory.available": pushed},
			Used: map[string]int64{"cpu": 700 + int64(i), "memory.available": gib - int64(i)}}}}, testNodes("a"), nil)
		for _, m := range w.Usage(secondsAfterStart(30 * i)).Marks {
			got = append(got, fmt.Sprintf("%s %d/%d", m.Watch, m.Samples, m.Required))
		}
	}
	want := "cpu 0/3 left 0/3 cpu 1/3 left 0/3 cpu 2/3 left 1/3 cpu 3/3 left 1/3 cpu 3/3 left 2/3"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}

	// A value pushed after the cpu measurement is also new.
	w = window.New(testOptions(window.LevelWatch{Name: "left", Resource: "memory.available", Enter: gib, Leave: 2 * gib, Below: true, For: 2}))
	for i := range 2 {
		w.Add(usage.Sample{Taken: secondsAfterStart(30 + 30*i), Nodes: map[string]usage.Reading{"a": {
			At: secondsAfterStart(0), Times: map[string]time.Time{"memory.available": secondsAfterStart(30 + 30*i)},
			Used: map[string]int64{"cpu": 100, "memory.available": gib / 2}}}}, testNodes("a"), nil)
	}
	if m := w.Usage(secondsAfterStart(60)).Marks; len(m) != 1 || !m[0].Hot {
		t.Errorf("%+v", m)
	}
}

// TestWhatSamplesFillOfTheWindow checks that each sample covers the time until the next sample.
func TestWhatSamplesFillOfTheWindow(t *testing.T) {
	w := window.New(testOptions())
	for i, want := range []float64{30, 60, 90, 120, 150, 180, 210, 240, 270, 0, 0, 0} {
		w.Add(sampleOfNodeA(30*i, 100), testNodes("a"), nil)
		if got := w.Usage(secondsAfterStart(30 * i)).Nodes[0].SpanSeconds; got != want {
			t.Errorf("%d samples fill %v s, want %v", i+1, got, want)
		}
	}
}

// TestTheTimeOfANode checks that the time of a node is that of cpu and memory, even if another
// resource was measured later. Pods bound after that time are not included.
func TestTheTimeOfANode(t *testing.T) {
	w := window.New(testOptions())
	s := usage.Sample{Taken: secondsAfterStart(60), Nodes: map[string]usage.Reading{
		"a": {At: secondsAfterStart(0), Used: map[string]int64{"cpu": 1, "memory": 2, "rule:load5": 3},
			Times: map[string]time.Time{"memory": secondsAfterStart(30), "rule:load5": secondsAfterStart(60)}},
		"b": {At: secondsAfterStart(10), Used: map[string]int64{"disk": 1, "rule:load5": 3},
			Times: map[string]time.Time{"rule:load5": secondsAfterStart(60)}},
	}}
	w.Add(s, testNodes("a", "b"), nil)
	if u := w.Usage(secondsAfterStart(60)); len(u.Nodes) != 2 || !u.Nodes[0].At.Equal(secondsAfterStart(0)) ||
		!u.Nodes[1].At.Equal(secondsAfterStart(10)) {
		t.Errorf("%+v", u.Nodes)
	}
	if l := w.Loads(secondsAfterStart(60), time.Hour); len(l) != 1 || !l[0].At.Equal(secondsAfterStart(0)) {
		t.Errorf("the stored usage is wrong: %+v", l)
	}
}

// TestWhatTheSourceRemembers covers pods that left before any process listed them. While the window includes the
// source's history, the usage contains the newest measurement in addition to the statistic.
func TestWhatTheSourceRemembers(t *testing.T) {
	w := window.New(testOptions())
	newest := func(seconds int) string {
		n := w.Usage(secondsAfterStart(seconds)).Nodes[0]
		return fmt.Sprint(n.Used["cpu"], n.Newest)
	}
	for i := range 9 {
		s := sampleOfNodeA(30*i, 900)
		s.FromHistory = true
		w.Add(s, testNodes("a"), nil)
	}
	w.Add(sampleOfNodeA(270, 500), testNodes("a"), nil)
	if got := newest(270); got != "900 map[cpu:500]" {
		t.Errorf("once asked: %s", got)
	}
	for i := 10; i <= 17; i++ {
		w.Add(sampleOfNodeA(30*i, 500), testNodes("a"), nil)
	}
	if got := newest(510); got != "540 map[cpu:500]" {
		t.Errorf("with one sample of the history in the window: %s", got)
	}
	w.Add(sampleOfNodeA(540, 490), testNodes("a"), nil)
	if got := newest(540); got != "500 map[]" {
		t.Errorf("with only samples of this process: %s", got)
	}
}

func TestOneSampleIsTheLatest(t *testing.T) {
	w := window.New(testOptions())
	w.Add(sampleOfNodeA(0, 500), testNodes("a"), nil)
	u := w.Usage(secondsAfterStart(0))
	want := []string{"the window of 5m0s contains one sample, too few for p90; the latest value is used"}
	if diff := cmp.Diff(want, u.Problems); diff != "" || u.Statistic != "latest" || u.Nodes[0].Deviation != nil {
		t.Errorf("%s, deviation %v, %s", u.Statistic, u.Nodes[0].Deviation, diff)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	w := window.New(window.Options{Statistic: window.Latest, MaxAge: time.Minute})
	var many []usage.Problem
	for i := range 5000 {
		many = append(many, usage.Problem{Kind: usage.Missing, Detail: fmt.Sprintf("node n%04d", 4999-i)})
	}
	many = append(many, usage.Problem{Kind: usage.Ambiguous, Detail: "a and b"})
	w.Add(usage.Sample{Taken: secondsAfterStart(0), Problems: many}, nil, nil)
	want := []string{"Ambiguous: a and b", "Missing: node n0000", "Missing: node n0001", "Missing: node n0002", "Missing: ... and 4997 more"}
	if diff := cmp.Diff(want, w.Usage(secondsAfterStart(0)).Problems); diff != "" {
		t.Error(diff)
	}
}

// TestAClockThatIsSetBack checks that samples are accepted at once after the clock was set back.
func TestAClockThatIsSetBack(t *testing.T) {
	w := window.New(testOptions())
	w.Add(sampleOfNodeA(3600, 500), testNodes("a"), nil)
	w.Add(sampleOfNodeA(0, 100), testNodes("a"), nil)
	u := w.Usage(secondsAfterStart(0))
	if len(u.Nodes) != 1 || u.Nodes[0].Used["cpu"] != 100 {
		t.Errorf("%+v", u.Nodes)
	}
}

func TestLoadsAreInPercentOfCapacity(t *testing.T) {
	o := testOptions()
	o.KeepNodeSamples = 15 * time.Minute
	w := window.New(o)
	n := testNode("a")
	n.Capacity.MilliCPU = 2000
	for i := range 60 { // 30 min, of which 15 are kept
		cpu := int64(500)
		if i >= 50 {
			cpu = 1000 // for the last 5 min
		}
		s := sampleOfNodeA(30*i, cpu)
		s.Nodes["stale"] = usage.Reading{At: secondsAfterStart(0), Used: map[string]int64{"cpu": 1}}
		w.Add(s, []usage.Node{n, testNode("stale"), {Name: "nothing"}}, nil)
	}
	now := secondsAfterStart(30 * 59)
	for minutes, want := range map[int]window.LoadStatistics{
		5: {Latest: 50, Mean: 50, Std: 0}, 10: {Latest: 50, Mean: 37.5, Std: 12.5}, 15: {Latest: 50, Mean: 100.0 / 3, Std: 11.785113},
	} {
		if w.SampleSpan(now) != 15*time.Minute {
			t.Fatalf("samples go back %s", w.SampleSpan(now))
		}
		got := w.Loads(now, time.Duration(minutes)*time.Minute)
		if len(got) != 1 || got[0].Node != "a" || !got[0].At.Equal(now) || len(got[0].ByResource) != 1 {
			t.Fatalf("%d min: %+v", minutes, got)
		}
		l := got[0].ByResource["cpu"]
		if fmt.Sprintf("%.4f %.4f %.4f", l.Latest, l.Mean, l.Std) != fmt.Sprintf("%.4f %.4f %.4f", want.Latest, want.Mean, want.Std) {
			t.Errorf("%d min: %+v, want %+v", minutes, l, want)
		}
	}
}
