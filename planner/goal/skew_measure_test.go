package goal

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestEffectsOfLandings compares the effects of landings, computed once for each count, with the
// excess after each landing.
func TestEffectsOfLandings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 5), 2, 6).Draw(t, "counts")
		n, limit := len(counts), rapid.IntRange(1, 3).Draw(t, "limit")
		k := &SkewMeasure{Domains: &domains{}, Counts: counts, Limit: limit, Moves: FewestMoves(counts, limit)}
		// Node n is in a domain that the goal does not list, and node n+1 in none.
		for i := range n + 1 {
			k.Domains.ByNode, k.IndexByDomain = append(k.Domains.ByNode, int32(i)), append(k.IndexByDomain, int32(i))
		}
		k.Domains.ByNode, k.IndexByDomain[n] = append(k.Domains.ByNode, NoDomain), NoDomain
		from := cluster.NodeID(rapid.IntRange(0, n+1).Draw(t, "from"))
		if int(from) < n && counts[from] == 0 {
			t.Skip("no pod there")
		}
		asks := rapid.Bool().Draw(t, "asks")
		g := k.effects(from, asks)
		for to := range cluster.NodeID(n + 2) {
			after, want := k.ExcessAfter(0, from, to), effect(0)
			if after <= k.Excess() {
				want |= harmless
			}
			if after < k.Excess() && asks && k.CountsLanding(to) {
				want |= helpful
			}
			if got := g.onNode(to); got != want {
				t.Fatalf("%v, limit %d: a move from %d to %d has the effect %d, want %d", counts, limit, from, to, got, want)
			}
		}
	})
}

// TestClonesMoveIndependently: a clone shares the counts until a move changes them.
func TestClonesMoveIndependently(t *testing.T) {
	k := &SkewMeasure{Domains: &domains{ByNode: []int32{0, 1}}, IndexByDomain: []int32{0, 1}, Counts: []int{4, 0}, Limit: 1, Moves: 2}
	first := k.clone()
	second := first.clone()
	for i, m := range []Measure{first, k, second} {
		if got := m.Excess(); got != 2 {
			t.Errorf("measure %d: excess %d before its own move, want 2", i, got)
		}
		if m.Move(0, 0, 1); m.Excess() != 1 || m.ExcessAfter(0, 0, 1) != 0 {
			t.Errorf("measure %d: excess %d after a move and %d after another, want 1 and 0", i, m.Excess(), m.ExcessAfter(0, 0, 1))
		}
	}
}
