package window_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/load"
	"github.com/evenkeel-project/evenkeel/load/window"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const gib = 1 << 30

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func options(watches ...window.Watch) window.Options {
	return window.Options{Source: "prometheus", Statistic: window.P90, Window: 5 * time.Minute, MaxAge: 3 * time.Minute, Rate: time.Minute, Interval: 30 * time.Second, Watches: watches}
}

// machine has 1000 milliCPU and 10 GiB, of which it gives all.
func machine(name string) load.Node {
	r := cluster.Resources{MilliCPU: 1000, MemoryBytes: 10 * gib}
	return load.Node{Name: name, UID: name, Capacity: r, Allocatable: r}
}

func machines(names ...string) []load.Node {
	var out []load.Node
	for _, n := range names {
		out = append(out, machine(n))
	}
	return out
}

// sample has cpu of nodes, measured when it was taken.
func sample(seconds int, cpu map[string]int64) load.Sample {
	s := load.Sample{Taken: at(seconds), Nodes: map[string]load.Reading{}}
	for n, v := range cpu {
		s.Nodes[n] = load.Reading{At: at(seconds), Used: map[string]int64{"cpu": v}}
	}
	return s
}

func one(seconds int, cpu int64) load.Sample { return sample(seconds, map[string]int64{"a": cpu}) }

// TestMarksOverTime: one measurement of node a every 30 s; what is said of it after
// each. "-": a sample in which it is missing; "=": the last measurement again.
func TestMarksOverTime(t *testing.T) {
	cpu := func(enter, leave float64, of int) window.Watch {
		return window.Watch{Name: "w", Resource: "cpu", Enter: enter, Leave: leave, For: of}
	}
	available := window.Watch{Name: "w", Resource: "memory.available", Enter: 1024 << 20, Leave: 1536 << 20, Below: true, For: 1}
	for _, c := range []struct {
		name         string
		watch        window.Watch
		values, want string
	}{
		{"strictly above", cpu(0.70, 0.70, 1), "712 700", "hot cool"},
		{"hysteresis", cpu(0.70, 0.60, 1), "710 690 610 590", "hot hot hot cool"},
		{"at the level to leave is cool", cpu(0.70, 0.60, 1), "710 600", "hot cool"},
		{"no binary fraction decides", cpu(0.29, 0.29, 1), "290 291", "cool hot"},
		{"in a row", cpu(0.70, 0.60, 3), "710 720 590 710 720 730 650 590", "1/3? 2/3? cool 1/3 2/3 hot hot cool"},
		{"in between breaks the row", cpu(0.70, 0.60, 2), "500 710 650 710 720", "cool 1/2 cool 1/2 hot"},
		{"the same measurement counts once", cpu(0.70, 0.60, 3), "710 = = 720 = 730", "1/3? 1/3? 1/3? 2/3? 2/3? hot"},
		{"missing neither counts nor clears", cpu(0.70, 0.60, 2), "500 710 - 720 - 590", "cool 1/2 1/2 hot hot cool"},
		{"unknown for long, counted anew", cpu(0.70, 0.60, 2), "710 720 - - - - - - - 730 740", "1/2? hot hot hot hot hot hot hot unknown 1/2? hot"},
		{"in between after a restart says nothing", cpu(0.70, 0.60, 1), "650 650 590 650", "0/1? 0/1? cool cool"},
		{"less than", available, "900000000 812 1024 1100 1536", "hot hot hot hot cool"},
		{"812 MiB is below 1024", available, "851443712", "hot"},
		{"1024 MiB is not below 1024", available, "1073741824 2147483648", "0/1? cool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := window.New(options(c.watch))
			var got []string
			last := load.Reading{}
			for i, v := range strings.Fields(c.values) {
				s := load.Sample{Taken: at(30 * i), Nodes: map[string]load.Reading{}}
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
					last = load.Reading{At: at(30 * i), Used: map[string]int64{c.watch.Resource: n}}
					s.Nodes["a"] = last
				}
				w.Add(s, machines("a"), nil)
				got = append(got, said(w.Usage(at(30*i))))
			}
			if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.values, diff)
			}
		})
	}
}

// said is what a usage says of the only node.
func said(u *cluster.Usage) string {
	switch {
	case len(u.Nodes) == 0:
		return "unknown"
	case len(u.Marks) == 0:
		return "cool"
	case u.Marks[0].Hot:
		return "hot"
	}
	m := u.Marks[0]
	return fmt.Sprintf("%d/%d%s", m.Samples, m.Of, map[bool]string{true: "?"}[m.Fresh])
}

// TestRulesMayBeNegative: what a query of a rule gives is a number of any kind, in
// millionths.
func TestRulesMayBeNegative(t *testing.T) {
	w := window.New(options(window.Watch{Name: "hints/frost", Resource: "rule:frost", Enter: -1.5, Leave: 0, Below: true, For: 1}))
	w.Add(load.Sample{Taken: at(0), Nodes: map[string]load.Reading{"a": {At: at(0), Used: map[string]int64{"rule:frost": -1_500_001}}}}, machines("a"), nil)
	if m := w.Usage(at(0)).Marks; len(m) != 1 || !m[0].Hot || m[0].Value != -1.500001 {
		t.Errorf("%+v", m)
	}
}

// TestDeviationIsFromTotals: a small node does not count as much as a large one, and
// a node whose last measurement is too old does not count at all, nor one that is out
// of scope.
func TestDeviationIsFromTotals(t *testing.T) {
	w := window.New(options(window.Watch{Name: "level", Resource: "cpu", Enter: 0.10, Leave: 0.05, Deviation: true, For: 1}))
	large := machine("large")
	large.Allocatable.MilliCPU = 9000
	idle := machine("idle")
	idle.OutOfScope = true
	nodes := []load.Node{large, machine("small"), machine("stale"), idle}
	s := sample(600, map[string]int64{"large": 4500, "small": 601, "idle": 0})
	s.Nodes["stale"] = load.Reading{At: at(0), Used: map[string]int64{"cpu": 1000}}
	w.Add(s, nodes, nil)
	// mean (4500+601)/10000 = 0.5101, not (0.5+0.601)/2 = 0.5505: the level is 0.6101
	if u := w.Usage(at(600)); len(u.Marks) != 1 || u.Marks[0].Node != "small" || u.Marks[0].Hot {
		t.Errorf("0.601 and 0.5 with a mean of 0.5101 + 0.10: %+v", u.Marks)
	}
	w.Add(sample(630, map[string]int64{"large": 4500, "small": 650}), nodes, nil)
	u := w.Usage(at(630))
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

func TestStatisticsOverTheWindow(t *testing.T) {
	// At 30 s apart, the newest at 360 s: those at 90 to 360 s are in the window.
	values := []int64{900, 900, 900, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}
	for statistic, want := range map[window.Statistic]int64{
		window.Latest: 1000, window.Mean: 550, window.P90: 910, window.P95: 955, window.Max: 1000,
	} {
		o := options()
		o.Statistic = statistic
		w := window.New(o)
		for i, v := range values {
			s := one(30*i, v)
			s.Pods = map[string]load.Reading{"shop/web": {At: at(30 * i), Node: "a", Used: map[string]int64{"cpu": v, "memory": v * 4096}}}
			w.Add(s, machines("a"), nil)
		}
		u := w.Usage(at(380))
		if u.Samples != 10 || !u.SampledAt.Equal(at(360)) || u.Statistic != string(statistic) || u.WindowSeconds != 300 || u.RateSeconds != 60 {
			t.Errorf("%s: %d samples, the newest of %s, %s over %v s", statistic, u.Samples, u.SampledAt, u.Statistic, u.WindowSeconds)
		}
		node := cluster.NodeUsage{Name: "a", At: at(360), Used: map[string]int64{"cpu": want}, Deviation: map[string]int64{"cpu": 287}}
		if diff := cmp.Diff([]cluster.NodeUsage{node}, u.Nodes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", statistic, diff)
		}
		pod := cluster.PodUsage{Namespace: "shop", Name: "web", Node: "a", At: at(360), Used: map[string]int64{"cpu": want, "memory": want * 4096}}
		if diff := cmp.Diff([]cluster.PodUsage{pod}, u.Pods); diff != "" {
			t.Errorf("%s (-want +got):\n%s", statistic, diff)
		}
	}
}

func TestWhatIsOldIsUnknown(t *testing.T) {
	w := window.New(options())
	s := one(0, 500)
	s.Nodes["b"] = load.Reading{At: at(-170), Used: map[string]int64{"cpu": 1}}
	s.Nodes["c"] = load.Reading{At: at(90), Used: map[string]int64{"cpu": 1}} // a clock that is far ahead
	s.Pods = map[string]load.Reading{
		"shop/young": {At: at(0), Node: "a", Used: map[string]int64{"cpu": 1}},
		"shop/old":   {At: at(-170), Node: "a", Used: map[string]int64{"cpu": 1}},
	}
	w.Add(s, machines("a", "b", "c"), nil)
	for seconds, want := range map[int]string{0: "a b /old /young", 11: "a /young", 180: "a /young", 181: ""} {
		u := w.Usage(at(seconds))
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
	if c := w.Coverage(at(0), 4); c != 0.5 {
		t.Errorf("coverage of 2 of 4 nodes is %v", c)
	}
}

// TestAResourceAlone: a node that answers for memory only has unknown cpu, once the
// last is too old.
func TestAResourceAlone(t *testing.T) {
	w := window.New(options())
	w.Add(one(0, 500), machines("a"), nil)
	for i := 1; i <= 7; i++ {
		w.Add(load.Sample{Taken: at(30 * i), Nodes: map[string]load.Reading{"a": {At: at(30 * i), Used: map[string]int64{"memory": gib, "cpu": -1}}}}, machines("a"), nil)
	}
	if diff := cmp.Diff(map[string]int64{"memory": gib}, w.Usage(at(210)).Nodes[0].Used); diff != "" {
		t.Error(diff)
	}
}

// TestEachResourceHasItsTime: cpu is measured every 30 s, and pushed is once a minute;
// neither hides what is new of the other, nor counts twice.
func TestEachResourceHasItsTime(t *testing.T) {
	w := window.New(options(
		window.Watch{Name: "cpu", Resource: "cpu", Enter: 0.70, Leave: 0.60, For: 3},
		window.Watch{Name: "left", Resource: "memory.available", Enter: gib, Leave: 2 * gib, Below: true, For: 3},
	))
	var got []string
	for i := range 5 {
		pushed := at(60 * (i / 2)) // newer than cpu at no time
		w.Add(load.Sample{Taken: at(30 * i), Nodes: map[string]load.Reading{"a": {
			At: at(30 * i), Times: map[string]time.Time{"memory.available": pushed},
			Used: map[string]int64{"cpu": 700 + int64(i), "memory.available": gib - int64(i)}}}}, machines("a"), nil)
		for _, m := range w.Usage(at(30 * i)).Marks {
			got = append(got, fmt.Sprintf("%s %d/%d", m.Watch, m.Samples, m.Of))
		}
	}
	want := "cpu 0/3 left 0/3 cpu 1/3 left 0/3 cpu 2/3 left 1/3 cpu 3/3 left 1/3 cpu 3/3 left 2/3"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}

	// What is pushed later than cpu was measured is new all the same.
	w = window.New(options(window.Watch{Name: "left", Resource: "memory.available", Enter: gib, Leave: 2 * gib, Below: true, For: 2}))
	for i := range 2 {
		w.Add(load.Sample{Taken: at(30 + 30*i), Nodes: map[string]load.Reading{"a": {
			At: at(0), Times: map[string]time.Time{"memory.available": at(30 + 30*i)},
			Used: map[string]int64{"cpu": 100, "memory.available": gib / 2}}}}, machines("a"), nil)
	}
	if m := w.Usage(at(60)).Marks; len(m) != 1 || !m[0].Hot {
		t.Errorf("%+v", m)
	}
}

// TestWhatWasMeasuredBeforeANodeWasCreated is of another machine of that name, also in
// what a source remembers.
func TestWhatWasMeasuredBeforeANodeWasCreated(t *testing.T) {
	w := window.New(options(window.Watch{Name: "w", Resource: "cpu", Enter: 0.5, Leave: 0.4, For: 3}))
	nodes := machines("a")
	nodes[0].Created = at(45)
	for i := range 2 {
		w.Add(one(30*i, 900), nodes, nil)
	}
	if u := w.Usage(at(50)); len(u.Nodes) != 0 || len(u.Marks) != 0 || !w.SampledAt().IsZero() {
		t.Errorf("the machine before: %+v, marks %+v", u.Nodes, u.Marks)
	}
	w.Add(one(60, 900), nodes, nil)
	if u := w.Usage(at(60)); len(u.Nodes) != 1 || u.Samples != 1 || len(u.Marks) != 1 || u.Marks[0].Hot || u.Marks[0].Samples != 1 {
		t.Errorf("its first measurement: %+v, marks %+v", u.Nodes, u.Marks)
	}
}

// TestWhatSamplesFillOfTheWindow: each stands for the time to the next.
func TestWhatSamplesFillOfTheWindow(t *testing.T) {
	w := window.New(options())
	for i, want := range []float64{30, 60, 90, 120, 150, 180, 210, 240, 270, 0, 0, 0} {
		w.Add(one(30*i, 100), machines("a"), nil)
		if got := w.Usage(at(30 * i)).Nodes[0].SpanSeconds; got != want {
			t.Errorf("%d samples fill %v s, want %v", i+1, got, want)
		}
	}
}

// TestTheTimeOfANode is that of cpu and memory, however lately something else was
// measured: pods that came since are not in them.
func TestTheTimeOfANode(t *testing.T) {
	w := window.New(options())
	s := load.Sample{Taken: at(60), Nodes: map[string]load.Reading{
		"a": {At: at(0), Used: map[string]int64{"cpu": 1, "memory": 2, "rule:load5": 3}, Times: map[string]time.Time{"memory": at(30), "rule:load5": at(60)}},
		"b": {At: at(10), Used: map[string]int64{"disk": 1, "rule:load5": 3}, Times: map[string]time.Time{"rule:load5": at(60)}},
	}}
	w.Add(s, machines("a", "b"), nil)
	if u := w.Usage(at(60)); len(u.Nodes) != 2 || !u.Nodes[0].At.Equal(at(0)) || !u.Nodes[1].At.Equal(at(10)) {
		t.Errorf("%+v", u.Nodes)
	}
	if l := w.Loads(at(60), time.Hour); len(l) != 1 || !l[0].At.Equal(at(0)) {
		t.Errorf("what is served: %+v", l)
	}
}

func TestOtherMachinesAndPodsOfTheSameName(t *testing.T) {
	watch := window.Watch{Name: "w", Resource: "cpu", Enter: 0.5, Leave: 0.4, For: 1}
	w := window.New(options(watch))
	place := window.Place{Node: "a", UID: "1", Created: at(-1000)}
	here := true
	where := func(string) (window.Place, bool) { return place, here }
	pod := func(seconds int, cpu int64) load.Sample {
		s := one(seconds, cpu)
		s.Pods = map[string]load.Reading{"db/0": {At: at(seconds), Used: map[string]int64{"cpu": cpu}}}
		return s
	}
	w.Add(pod(0, 900), machines("a"), where)
	again := machines("a")
	again[0].UID = "another"
	place = window.Place{Node: "a", UID: "2", Created: at(29)}
	w.Add(pod(30, 100), again, where)
	u := w.Usage(at(30))
	if u.Nodes[0].Used["cpu"] != 100 || len(u.Marks) != 0 {
		t.Errorf("a machine that came back as another: %+v, marks %+v", u.Nodes, u.Marks)
	}
	if len(u.Pods) != 2 || u.Pods[0].Used["cpu"] != 900 || u.Pods[0].UID != "1" || !u.Pods[0].At.Equal(at(0)) || u.Pods[1].Used["cpu"] != 100 || u.Pods[1].UID != "2" {
		t.Errorf("a pod that came back as another: %+v", u.Pods)
	}
	place = window.Place{Node: "a", UID: "3", Created: at(61)}
	w.Add(pod(60, 700), again, where) // measured before pod 3 came to be
	if u := w.Usage(at(60)); len(u.Pods) != 2 || u.Pods[1].UID != "2" || u.Pods[1].Used["cpu"] != 100 {
		t.Errorf("what was measured of the one before: %+v", u.Pods)
	}
	here = false
	w.Add(pod(90, 700), machines("b"), where)
	if u := w.Usage(at(90)); len(u.Nodes) != 0 {
		t.Errorf("a node that is gone: %+v", u.Nodes)
	}
	if u := w.Usage(at(280)); len(u.Pods) != 2 { // they have left, and the window, which ends at 90 s, holds them
		t.Errorf("pods that have left within the window: %+v", u.Pods)
	}
	w.Add(load.Sample{Taken: at(400)}, again, where)
	if u := w.Usage(at(91)); len(u.Pods) != 0 {
		t.Errorf("a pod that is gone for longer than any window: %+v", u.Pods)
	}
}

// TestWhatTheSourceRemembers holds pods that left before anybody listed them: as long
// as the window reaches back to it, the newest measurement stands beside the statistic.
func TestWhatTheSourceRemembers(t *testing.T) {
	w := window.New(options())
	newest := func(seconds int) string {
		n := w.Usage(at(seconds)).Nodes[0]
		return fmt.Sprint(n.Used["cpu"], n.Newest)
	}
	for i := range 9 {
		s := one(30*i, 900)
		s.Remembered = true
		w.Add(s, machines("a"), nil)
	}
	w.Add(one(270, 500), machines("a"), nil)
	if got := newest(270); got != "900 map[cpu:500]" {
		t.Errorf("once asked: %s", got)
	}
	for i := 10; i <= 17; i++ {
		w.Add(one(30*i, 500), machines("a"), nil)
	}
	if got := newest(510); got != "540 map[cpu:500]" {
		t.Errorf("one of what is remembered is left: %s", got)
	}
	w.Add(one(540, 490), machines("a"), nil)
	if got := newest(540); got != "500 map[]" {
		t.Errorf("all is our own: %s", got)
	}
}

func TestOneSampleIsTheLatest(t *testing.T) {
	w := window.New(options())
	w.Add(one(0, 500), machines("a"), nil)
	u := w.Usage(at(0))
	want := []string{"there is one sample in the window of 5m0s, and no p90 of it: the latest is taken"}
	if diff := cmp.Diff(want, u.Problems); diff != "" || u.Statistic != "latest" || u.Nodes[0].Deviation != nil {
		t.Errorf("%s, deviation %v, %s", u.Statistic, u.Nodes[0].Deviation, diff)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	w := window.New(window.Options{Statistic: window.Latest, MaxAge: time.Minute})
	var many []load.Problem
	for i := range 5000 {
		many = append(many, load.Problem{Kind: load.Missing, Detail: fmt.Sprintf("node n%04d", 4999-i)})
	}
	many = append(many, load.Problem{Kind: load.Ambiguous, Detail: "a and b"})
	w.Add(load.Sample{Taken: at(0), Problems: many}, nil, nil)
	want := []string{"Ambiguous: a and b", "Missing: node n0000", "Missing: node n0001", "Missing: node n0002", "Missing: ... and 4997 more"}
	if diff := cmp.Diff(want, w.Usage(at(0)).Problems); diff != "" {
		t.Error(diff)
	}
}

// TestAClockThatIsSetBack: samples are not taken for old ones until it has caught up.
func TestAClockThatIsSetBack(t *testing.T) {
	w := window.New(options())
	w.Add(one(3600, 500), machines("a"), nil)
	w.Add(one(0, 100), machines("a"), nil)
	u := w.Usage(at(0))
	if len(u.Nodes) != 1 || u.Nodes[0].Used["cpu"] != 100 {
		t.Errorf("%+v", u.Nodes)
	}
}

func TestWatchesThatStayKeepTheirCounts(t *testing.T) {
	kept := window.Watch{Name: "kept", Resource: "cpu", Enter: 0.5, Leave: 0.4, For: 2}
	gone := window.Watch{Name: "gone", Resource: "cpu", Enter: 0.6, Leave: 0.4, For: 2}
	changed := gone
	changed.Enter = 0.7
	w := window.New(options(gone, kept))
	w.Add(one(0, 900), machines("a"), nil)
	w.Watch([]window.Watch{kept, changed})
	w.Add(one(30, 900), machines("a"), nil)
	want := []cluster.Mark{
		{Watch: "kept", Node: "a", Resource: "cpu", Hot: true, Samples: 2, Of: 2, Value: 0.9, Since: at(0), At: at(30)},
		{Watch: "gone", Node: "a", Resource: "cpu", Samples: 1, Of: 2, Value: 0.9, Since: at(30), At: at(30), Fresh: true},
	}
	if diff := cmp.Diff(want, w.Usage(at(30)).Marks); diff != "" {
		t.Error(diff)
	}
}

// TestWhatMayBeOfThePodBefore: a source that does not tell when it measured a pod speaks
// for a while of the one of that name that was there before.
func TestWhatMayBeOfThePodBefore(t *testing.T) {
	w := window.New(options())
	place := window.Place{Node: "a", UID: "1", Created: at(-10)}
	add := func(seconds int) []cluster.PodUsage {
		s := one(seconds, 100)
		s.PodsLag = time.Minute
		s.Pods = map[string]load.Reading{"db/0": {At: at(seconds), Used: map[string]int64{"cpu": 900}}}
		w.Add(s, machines("a"), func(string) (window.Place, bool) { return place, true })
		return w.Usage(at(seconds)).Pods
	}
	if got := add(0); len(got) != 1 || got[0].UID != "1" {
		t.Errorf("a new pod, and none before it: %+v", got)
	}
	place = window.Place{Node: "a", UID: "2", Created: at(10)}
	if got := add(30); len(got) != 1 || got[0].UID != "1" {
		t.Errorf("20 s after another came: %+v", got)
	}
	if got := add(90); len(got) != 2 || got[1].UID != "2" {
		t.Errorf("80 s after: %+v", got)
	}
	if got := add(95); len(got) != 2 || !got[1].At.Equal(at(95)) {
		t.Errorf("once it is known: %+v", got)
	}
}

func TestLoadsAreInPercentOfCapacity(t *testing.T) {
	o := options()
	o.KeepNodes = 15 * time.Minute
	w := window.New(o)
	n := machine("a")
	n.Capacity.MilliCPU = 2000
	for i := range 60 { // 30 min, of which 15 are kept
		cpu := int64(500)
		if i >= 50 {
			cpu = 1000 // for the last 5 min
		}
		s := one(30*i, cpu)
		s.Nodes["stale"] = load.Reading{At: at(0), Used: map[string]int64{"cpu": 1}}
		w.Add(s, []load.Node{n, machine("stale"), {Name: "nothing"}}, nil)
	}
	now := at(30 * 59)
	for minutes, want := range map[int]window.Load{
		5: {Latest: 50, Mean: 50, Std: 0}, 10: {Latest: 50, Mean: 37.5, Std: 12.5}, 15: {Latest: 50, Mean: 100.0 / 3, Std: 11.785113},
	} {
		if w.Span(now) != 15*time.Minute {
			t.Fatalf("samples go back %s", w.Span(now))
		}
		got := w.Loads(now, time.Duration(minutes)*time.Minute)
		if len(got) != 1 || got[0].Node != "a" || !got[0].At.Equal(now) || len(got[0].Of) != 1 {
			t.Fatalf("%d min: %+v", minutes, got)
		}
		l := got[0].Of["cpu"]
		if fmt.Sprintf("%.4f %.4f %.4f", l.Latest, l.Mean, l.Std) != fmt.Sprintf("%.4f %.4f %.4f", want.Latest, want.Mean, want.Std) {
			t.Errorf("%d min: %+v, want %+v", minutes, l, want)
		}
	}
}
