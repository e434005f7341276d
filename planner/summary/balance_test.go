package summary

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/plan"
)

func zones(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// spread returns a workload with these numbers of pods in the zones a, b, c and so on.
func spread(pods ...int) plan.WorkloadState {
	w := plan.WorkloadState{Zones: map[string]int{}}
	for i, n := range pods {
		w.Zones[string(rune('a'+i))] = n
	}
	return w
}

// TestZonesOfTheScore has the examples of docs/reference/report.md, and the cases that do not count.
func TestZonesOfTheScore(t *testing.T) {
	abc := zones("a", "b", "c")
	for name, c := range map[string]struct {
		workloads []plan.WorkloadState
		zones     map[string]bool
		want      float64
		applies   bool
	}{
		"as even as possible":              {[]plan.WorkloadState{spread(2, 2, 2)}, abc, 0, true},
		"even with a remainder":            {[]plan.WorkloadState{spread(3, 2, 2)}, abc, 0, true},
		"one pod too many":                 {[]plan.WorkloadState{spread(3, 2, 1)}, abc, 0.25, true},
		"all in one zone":                  {[]plan.WorkloadState{spread(6, 0, 0)}, abc, 1, true},
		"average":                          {[]plan.WorkloadState{spread(6, 0, 0), spread(2, 2, 2)}, abc, 0.5, true},
		"a single pod does not count":      {[]plan.WorkloadState{spread(1), spread(2, 2, 2)}, abc, 0, true},
		"only single pods":                 {[]plan.WorkloadState{spread(1)}, abc, 0, false},
		"one zone":                         {[]plan.WorkloadState{spread(6)}, zones("a"), 0, false},
		"no zones":                         {[]plan.WorkloadState{{Zones: map[string]int{"": 6}}}, nil, 0, false},
		"pods outside of zones":            {[]plan.WorkloadState{{Zones: map[string]int{"": 1, "a": 6}}}, abc, 0, false},
		"a closed zone still counts there": {[]plan.WorkloadState{spread(2, 2, 2)}, zones("a", "b"), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, applies := unevenZones(c.workloads, c.zones); got != c.want || applies != c.applies {
				t.Errorf("got %g, %t", got, applies)
			}
		})
	}
}

func TestUtilizationOfTheScore(t *testing.T) {
	nodes := func(cpu ...float64) (out []plan.NodeState) {
		for _, share := range cpu {
			out = append(out, plan.NodeState{Requested: map[string]float64{"cpu": share, "memory": 0.5}})
		}
		return out
	}
	all := []bool{true, true, true, true}
	for name, c := range map[string]struct {
		nodes   []plan.NodeState
		takes   []bool
		want    float64
		applies bool
	}{
		"even":                    {nodes(0.6, 0.6, 0.6), all, 0, true},
		"half full, half empty":   {nodes(1, 1, 0, 0), all, 0.5, true}, // CPU has 1, memory 0
		"a node that takes none":  {nodes(0.6, 0.6, 0), []bool{true, true, false}, 0, true},
		"one node":                {nodes(0.6), all, 0, false},
		"no node":                 {nil, nil, 0, false},
		"a node without resource": {append(nodes(0.6, 0.6), plan.NodeState{}), all, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, applies := unevenUtilization(c.nodes, c.takes); math.Abs(got-c.want) > 1e-9 || applies != c.applies {
				t.Errorf("got %g, %t", got, applies)
			}
		})
	}
}

func TestGoalsOfTheScore(t *testing.T) {
	node := func(excess float64) judgedGoal {
		return judgedGoal{strategy: "load", kind: plan.NodeBelow, limit: 0.8, excess: excess}
	}
	for name, c := range map[string]struct {
		goals      []judgedGoal
		strategies []string
		want       float64
		applies    bool
	}{
		"met":                             {[]judgedGoal{node(0), node(0)}, []string{"load"}, 0, true},
		"half of the largest excess":      {[]judgedGoal{node(0.1), node(0)}, []string{"load"}, 0.375, true},
		"more than the largest excess":    {[]judgedGoal{node(3)}, []string{"load"}, 1, true},
		"a limit without room":            {[]judgedGoal{{strategy: "load", kind: plan.NodeBelow, limit: 1, excess: 0.1}}, []string{"load"}, 1, true},
		"skew 6 of 8 pods, limit 2":       {[]judgedGoal{{strategy: "zones", kind: plan.SkewAtMost, limit: 2, pods: 8, excess: 3}}, []string{"zones"}, 0.75, true},
		"2 of 100 pods must leave":        {[]judgedGoal{{strategy: "away", excess: 1, onlyViolated: true}, {strategy: "away", excess: 1, onlyViolated: true}}, []string{"away"}, 0.02, true},
		"average of strategies":           {[]judgedGoal{node(3)}, []string{"load", "no-violation"}, 0.5, true},
		"a strategy that does not judge":  {[]judgedGoal{node(3)}, []string{"zones"}, 0, true},
		"no strategy judges":              {[]judgedGoal{node(3)}, nil, 0, false},
		"leaving pods of an empty record": {nil, []string{"away"}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, applies := unevenGoals(c.goals, c.strategies, 100); math.Abs(got-c.want) > 1e-9 || applies != c.applies {
				t.Errorf("got %g, %t", got, applies)
			}
		})
	}
}

// TestPartsAreSharesAndMonotonic checks on random input that each part is between 0 and 1, and that it does not rise if
// a pod moves from the zone with the most pods to that with the fewest, if utilization comes closer to the mean, or if
// an excess falls.
func TestPartsAreSharesAndMonotonic(t *testing.T) {
	share := func(t *rapid.T, what string, x float64) {
		if math.IsNaN(x) || x < 0 || x > 1 {
			t.Fatalf("%s: %g", what, x)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		pods := rapid.SliceOfN(rapid.IntRange(0, 9), 2, 4).Draw(t, "pods")
		open := zones("a", "b")
		before, _ := unevenZones([]plan.WorkloadState{spread(pods...)}, open)
		share(t, "zones", before)
		most, least := 0, 0
		for i, n := range pods {
			if n > pods[most] {
				most = i
			}
			if n < pods[least] {
				least = i
			}
		}
		if pods[most] > pods[least]+1 && pods[least] > 0 { // a pod in a closed, empty zone would open it
			pods[most], pods[least] = pods[most]-1, pods[least]+1
			if after, _ := unevenZones([]plan.WorkloadState{spread(pods...)}, open); after > before {
				t.Fatalf("zones: %g rises to %g with %v", before, after, pods)
			}
		}

		shares := rapid.SliceOfN(rapid.Float64Range(0, 1.5), 0, 6).Draw(t, "shares")
		var nodes, closer []plan.NodeState
		mean := 0.0
		for _, x := range shares {
			mean += x / float64(len(shares))
		}
		takes := make([]bool, len(shares))
		for i, x := range shares {
			takes[i] = true
			nodes = append(nodes, plan.NodeState{Requested: map[string]float64{"cpu": x}})
			closer = append(closer, plan.NodeState{Requested: map[string]float64{"cpu": mean + (x-mean)/2}})
		}
		wide, _ := unevenUtilization(nodes, takes)
		narrow, _ := unevenUtilization(closer, takes)
		share(t, "utilization", wide)
		if narrow > wide+1e-9 {
			t.Fatalf("utilization: %g rises to %g", wide, narrow)
		}

		excess, limit := rapid.Float64Range(0, 20).Draw(t, "excess"), rapid.Float64Range(0, 10).Draw(t, "limit")
		size := rapid.IntRange(0, 20).Draw(t, "size")
		for _, kind := range []plan.GoalKind{plan.NodeBelow, plan.SkewAtMost, plan.CountAtMost} {
			g := judgedGoal{kind: kind, limit: limit, pods: size, excess: excess}
			high := g.uneven()
			share(t, string(kind), high)
			if g.excess /= 2; g.uneven() > high {
				t.Fatalf("%s: %g rises to %g", kind, high, g.uneven())
			}
		}
	})
}
