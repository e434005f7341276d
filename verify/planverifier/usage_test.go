package planverifier_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// stallSource is a source that measures the stall of nodes and pods.
const stallSource = `source: prometheus, prometheus: {url: "http://p", queries: {stall: x}, podQueries: {stall: x}}`

// usageSettings returns random settings whose NodeLoad strategy acts on measured usage: on cpu, or with stalls also on
// stall, or only while the stall of the node is high.
func usageSettings(r *rand.Rand, stalls bool) string {
	text := simulation.Settings(r)
	from := strings.Index(text, "args: {target: {cpu: ")
	to := from + strings.Index(text[from:], "}}")
	args := fmt.Sprintf("args: {basis: load, for: %d, target: {cpu: 0.%d", 1+2*r.IntN(2), 3+r.IntN(4))
	source := "source: metricsServer"
	switch {
	case !stalls:
	case r.IntN(2) == 0:
		source, args = stallSource, fmt.Sprintf("%s}, when: {stall: 0.%d", args, 2+r.IntN(4))
	default:
		source, args = stallSource, fmt.Sprintf("args: {basis: load, target: {stall: 0.%d", 2+r.IntN(4))
	}
	return strings.Replace(text[:from]+args+text[to:], "strategies:\n",
		fmt.Sprintf("load: {"+source+", minCoverage: 0.%d}\nstrategies:\n", 5+r.IntN(5)), 1)
}

func makeUsageCase(t testing.TB, seed uint64) planCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 33))
	o := simulation.Mixed(r)
	simulation.RandomUsage(r, o)
	stalls := seed%3 == 0
	if stalls {
		simulation.AddStalls(rand.New(rand.NewPCG(seed, 34)), o.Usage)
	}
	p, rules := makePlanFor(t, o, usageSettings(r, stalls), o.TakenAt, plan.PlannerState{})
	return planCase{o, rules, p}
}

// TestNoPlanByLoadBreaksARule plans on random clusters with random usage. Some nodes and pods have no usage, or
// stale usage. No plan may evict a pod with unknown usage or push a node above its target.
func TestNoPlanByLoadBreaksARule(t *testing.T) {
	t.Parallel()
	const seeds = 300
	moves, byUse, bad, unknown, unmet := 0, 0, 0, 0, 0
	byStall, signalled := 0, 0
	for seed := range uint64(seeds) {
		m := makeUsageCase(t, seed)
		moves += len(m.plan.Moves)
		for _, x := range m.plan.Moves {
			if x.Strategy == "hot" {
				byUse++
				if rule := m.rules.UsageStrategies[0]; rule.Resource == "stall" {
					byStall++
				} else if len(rule.When) > 0 {
					signalled++
				}
			}
		}
		unknown += m.plan.Rejections.Counts[plan.UsageUnknown]
		for _, left := range m.plan.After.Excess {
			if left > 0 {
				unmet++
			}
		}
		for _, v := range planverifier.Check(m.o, m.rules, m.plan, m.o.TakenAt) {
			if bad++; bad <= 20 {
				t.Errorf("seed %d: step %d, pod %s: %s: %s", seed, v.Step, v.Pod, v.Code, v.Detail)
			}
		}
	}
	t.Logf("%d plans, %d moves, %d of them by usage, %d pods without usage, %d unmet goals, %d violations", seeds, moves, byUse, unknown,
		unmet, bad)
	if byStall < 20 || signalled < 20 {
		t.Errorf("%d moves by stall and %d with when are too few for this test", byStall, signalled)
	}
	if byUse < 200 || unknown < 20 {
		t.Errorf("%d moves by usage and %d pods without usage are too few for this test", byUse, unknown)
	}
}

// TestLoadTampering changes the cluster of a valid plan. The verifier must report each change.
func TestLoadTampering(t *testing.T) {
	t.Parallel()
	full := func(o *cluster.Objects, m plan.Move) {
		editNodeUsage(o, m.To, func(n *cluster.NodeUsage) { n.Used = map[string]int64{"cpu": 1 << 40} })
	}
	fullAndExcluded := func(o *cluster.Objects, m plan.Move) {
		full(o, m)
		o.Nodes = slices.Clone(o.Nodes)
		for i, n := range o.Nodes {
			if n.Name == m.To {
				o.Nodes[i] = n.DeepCopy()
				o.Nodes[i].Annotations = map[string]string{"evenkeel.io/exclude": "true"}
			}
		}
	}
	for _, c := range []struct {
		what string
		of   string // the strategy of the move
		code plan.Code
		do   func(o *cluster.Objects, m plan.Move)
	}{
		{"the pod was not measured", "hot", plan.UsageUnknown, func(o *cluster.Objects, m plan.Move) {
			pods := []cluster.PodUsage{}
			for _, p := range o.Usage.Pods {
				if p.UID != m.Pod.UID {
					pods = append(pods, p)
				}
			}
			o.Usage.Pods = pods
		}},
		{"the target node was not measured", "hot", planverifier.UsageUnknown, func(o *cluster.Objects, m plan.Move) {
			editNodeUsage(o, m.To, func(n *cluster.NodeUsage) { n.Used = nil })
		}},
		{"the usage of the source node is stale", "hot", planverifier.UsageUnknown, func(o *cluster.Objects, m plan.Move) {
			editNodeUsage(o, m.From, func(n *cluster.NodeUsage) { n.At = n.At.AddDate(0, 0, -1) })
		}},
		{"the target node is full", "hot", planverifier.UsageNotLowered, full},
		{"the target node is full and has no goal", "hot", planverifier.UsageNotLowered, fullAndExcluded},
		{"the target node of a move for another strategy is full and has no goal", "zones", planverifier.UsageNotLowered, fullAndExcluded},
		{"the source node is not above its target for long enough", "hot", planverifier.SamplesMissing,
			func(o *cluster.Objects, m plan.Move) { o.Usage.Marks = nil }},
	} {
		found := false
		for seed := uint64(0); seed < 200 && !found; seed++ {
			m := makeUsageCase(t, seed)
			for _, x := range m.plan.Moves {
				if x.Strategy != c.of || m.rules.UsageStrategies[0].Resource != "cpu" || c.code == planverifier.SamplesMissing && m.rules.UsageStrategies[0].For == 1 {
					continue
				}
				u := *m.o.Usage
				o := *m.o
				o.Usage = &u
				c.do(&o, x)
				for _, v := range planverifier.Check(&o, m.rules, m.plan, o.TakenAt) {
					found = found || v.Code == c.code && v.Step == x.Step
				}
				break
			}
		}
		if !found {
			t.Errorf("%s: the verifier never reports %s", c.what, c.code)
		}
	}
}

// TestMovesOffNodesBelowASignal: the source nodes of a valid plan have no usage of another
// resource, or less than a level.
func TestMovesOffNodesBelowASignal(t *testing.T) {
	t.Parallel()
	for used, want := range map[int64]bool{-1: true, 300_000: true, 300_001: false} {
		found := false
		for seed := range uint64(30) {
			if seed%3 == 0 {
				continue // its settings have levels for stall
			}
			m := makeUsageCase(t, seed)
			u := *m.o.Usage
			o := *m.o
			o.Usage = &u
			for _, x := range m.plan.Moves {
				editNodeUsage(&o, x.From, func(n *cluster.NodeUsage) {
					if n.Used = maps.Clone(n.Used); used >= 0 {
						n.Used["stall"] = used
					}
				})
			}
			for i := range m.rules.UsageStrategies {
				m.rules.UsageStrategies[i].When = map[string]float64{"stall": 0.3}
			}
			for _, v := range planverifier.Check(&o, m.rules, m.plan, o.TakenAt) {
				found = found || v.Code == plan.SignalTooLow
			}
		}
		if found != want {
			t.Errorf("with %d millionths, the verifier reports the moves: %v, want %v", used, found, want)
		}
	}
}

func editNodeUsage(o *cluster.Objects, node string, change func(*cluster.NodeUsage)) {
	o.Usage.Nodes = append([]cluster.NodeUsage{}, o.Usage.Nodes...)
	for i := range o.Usage.Nodes {
		if o.Usage.Nodes[i].Name == node {
			change(&o.Usage.Nodes[i])
		}
	}
}
