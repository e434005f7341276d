package breaker_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/breaker"
)

// nodePass is a pass that saw a number of nodes, some of them NotReady.
type nodePass struct {
	after          time.Duration // since noon
	nodes, unready int
}

// lastTrip makes the passes one after the other and reports whether the breaker trips in the last one.
func lastTrip(t testing.TB, passes ...nodePass) *plan.BreakerTrip {
	var counts []plan.NodeCount
	var trip *plan.BreakerTrip
	for _, p := range passes {
		s := clusterState{nodes: p.nodes, unready: p.unready}.snapshot(t, noon.Add(p.after))
		trip = opts.CheckCluster(s, breaker.NewBaseline(s, counts))
		counts = breaker.RecordNodes(counts, s)
	}
	return trip
}

func TestNodesThatAreGone(t *testing.T) {
	const m = time.Minute
	for name, c := range map[string]struct {
		passes []nodePass
		trips  bool
	}{
		"40% deleted since the last pass":             {[]nodePass{{0, 10, 0}, {5 * m, 6, 0}}, true},
		"as many as allowed":                          {[]nodePass{{0, 10, 0}, {5 * m, 7, 0}}, false},
		"gone and NotReady together":                  {[]nodePass{{0, 10, 0}, {5 * m, 8, 2}}, true},
		"one after the other":                         {[]nodePass{{0, 10, 0}, {5 * m, 8, 0}, {10 * m, 6, 0}}, true},
		"replaced by new nodes":                       {[]nodePass{{0, 10, 0}, {5 * m, 6, 0}, {10 * m, 10, 0}}, false},
		"replaced by nodes that are not Ready yet":    {[]nodePass{{0, 10, 0}, {5 * m, 10, 4}}, true},
		"still gone at the end of the window":         {[]nodePass{{0, 10, 0}, {5 * m, 6, 0}, {30 * m, 6, 0}}, true},
		"scaled down, after the window":               {[]nodePass{{0, 10, 0}, {5 * m, 6, 0}, {31 * m, 6, 0}}, false},
		"an hourly pass":                              {[]nodePass{{0, 10, 0}, {60 * m, 6, 0}}, true},
		"the hourly pass after that":                  {[]nodePass{{0, 10, 0}, {60 * m, 6, 0}, {120 * m, 6, 0}}, false},
		"the last pass was half a day ago":            {[]nodePass{{0, 10, 0}, {12 * 60 * m, 6, 0}}, false},
		"the clock was set back a day after the peak": {[]nodePass{{0, 10, 0}, {-24 * 60 * m, 6, 0}}, false},
		"the first pass":                              {[]nodePass{{0, 6, 0}}, false},
	} {
		if trip := lastTrip(t, c.passes...); (trip != nil) != c.trips {
			t.Errorf("%s: %+v, want a trip: %t", name, trip, c.trips)
		}
	}
}

// The counts stay small and keep the maximum of the window.
func TestNodeCountsAreBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var counts []plan.NodeCount
		var all []nodePass
		at := time.Duration(0)
		for range rapid.IntRange(1, 150).Draw(rt, "passes") {
			at += time.Duration(rapid.IntRange(1, 300).Draw(rt, "seconds")) * time.Second
			p := nodePass{at, rapid.IntRange(1, 200).Draw(rt, "nodes"), 0}
			all = append(all, p)
			counts = breaker.RecordNodes(counts, clusterState{nodes: p.nodes}.snapshot(t, noon.Add(at)))
		}
		most := 0
		for _, p := range all {
			if at-p.after <= 30*time.Minute {
				most = max(most, p.nodes)
			}
		}
		if counts[0].Nodes != most || len(counts) > plan.MaxNodeCounts ||
			!slices.IsSortedFunc(counts, func(a, b plan.NodeCount) int { return b.Nodes - a.Nodes }) {
			rt.Fatalf("got %+v, want at most %d decreasing counts from %d", counts, plan.MaxNodeCounts, most)
		}
	})
}
