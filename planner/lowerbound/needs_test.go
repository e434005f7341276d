package lowerbound

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/planner/goal"
)

// TestReachableDomainsAreEnough checks that the domains that reachableDomains looks at give the same result as all of
// them, and that a group on many nodes needs few of them.
func TestReachableDomainsAreEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "domains")
		drawCounts := func(name string, most int) []int {
			return rapid.SliceOfN(rapid.IntRange(0, most), n, n).Draw(t, name)
		}
		k := &goal.SkewMeasure{Counts: drawCounts("pods", 6), Limit: rapid.IntRange(1, 3).Draw(t, "limit")}
		k.Moves = goal.FewestMoves(k.Counts, k.Limit)
		leaving, all := drawCounts("leaving", 6), drawCounts("arriving", 3)
		for z := range leaving {
			leaving[z] = min(leaving[z], k.Counts[z])
		}
		if k.Moves == 0 {
			t.Skip("the goal is met")
		}
		limit, moves := k.ReachableSkew(leaving, all)
		arriving, suffice := reachableDomains(k, leaving, func(z int) int { return all[z] })
		if gotLimit, got := k.ReachableSkew(leaving, arriving); gotLimit != limit || got != moves || suffice != (limit == k.Limit && moves == k.Moves) {
			t.Errorf("skew %d by %d moves (enough: %v), want %d by %d", gotLimit, got, suffice, limit, moves)
		}
	})
	looked := 0
	k := &goal.SkewMeasure{Counts: make([]int, 5000), Limit: 1, Moves: 2}
	k.Counts[7], k.Counts[8] = 2, 2
	leaving := make([]int, 5000)
	leaving[7], leaving[8] = 2, 2
	if _, suffice := reachableDomains(k, leaving, func(int) int { looked++; return 4 }); !suffice || looked > 10 {
		t.Errorf("looked at %d of 5,000 domains (enough: %v), want at most 10", looked, suffice)
	}
}
