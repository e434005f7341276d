package goal

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bruteForceMoves finds the fewest moves by breadth-first search through all sequences of moves.
func bruteForceMoves(counts, leaving, arriving []int, s int) (int, bool) {
	type node struct{ counts, leaving, arriving []int }
	level := []node{{counts, leaving, arriving}}
	for depth := 0; depth <= 6; depth++ {
		seen := map[string]bool{}
		var next []node
		for _, n := range level {
			if Spread(n.counts) <= s {
				return depth, true
			}
			for a := range n.counts {
				for b := range n.counts {
					if a == b || n.counts[a] == 0 || n.leaving[a] == 0 || n.arriving[b] == 0 {
						continue
					}
					c, l, in := slices.Clone(n.counts), slices.Clone(n.leaving), slices.Clone(n.arriving)
					c[a]--
					c[b]++
					l[a]--
					in[b]--
					key := string(rune('0'+depth)) + keyOf(c) + "|" + keyOf(l) + "|" + keyOf(in)
					if !seen[key] {
						seen[key] = true
						next = append(next, node{c, l, in})
					}
				}
			}
		}
		level = next
	}
	return 0, false
}

func keyOf(c []int) string {
	b := make([]byte, len(c))
	for i, x := range c {
		b[i] = byte('a' + x)
	}
	return string(b)
}

func TestFewestMovesIsWhatExhaustiveSearchFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 4), 2, 4).Draw(t, "counts")
		s := rapid.IntRange(1, 3).Draw(t, "s")
		want, ok := bruteForceMoves(counts, counts, []int{9, 9, 9, 9}, s)
		if !ok {
			t.Skip("more than six moves")
		}
		if got := FewestMoves(counts, s); got != want {
			t.Fatalf("fewestMoves(%v, %d) = %d, exhaustive search finds %d", counts, s, got, want)
		}
	})
}

func TestFewestMovesWithPinnedPods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 3).Draw(t, "n")
		counts, leaving, arriving := make([]int, n), make([]int, n), make([]int, n)
		for i := range counts {
			counts[i] = rapid.IntRange(0, 4).Draw(t, "count")
			leaving[i] = rapid.IntRange(0, counts[i]).Draw(t, "leaving")
			arriving[i] = rapid.IntRange(0, 5).Draw(t, "arriving")
		}
		s := rapid.IntRange(1, 2).Draw(t, "s")
		got, ok := FewestMovesWithDomainLimits(counts, leaving, arriving, s)
		want, wantOK := bruteForceMoves(counts, leaving, arriving, s)
		if ok != wantOK || ok && got != want {
			t.Fatalf("fewestMovesOf(%v, %v, %v, %d) = %d %v, exhaustive search finds %d %v", counts, leaving, arriving, s, got, ok, want, wantOK)
		}
	})
}

func TestEveryUsefulMoveLowersTheCountByOne(t *testing.T) {
	counts := []int{1, 1, 4, 4}
	for want := FewestMoves(counts, 1); want > 0; want-- {
		if got := FewestMoves(counts, 1); got != want {
			t.Fatalf("%v: %d moves, want %d", counts, got, want)
		}
		lo, hi := slices.Index(counts, slices.Min(counts)), slices.Index(counts, slices.Max(counts))
		counts[lo]++
		counts[hi]--
	}
	if Spread(counts) > 1 {
		t.Fatalf("%v is not even", counts)
	}
}

// TestOnlyFullDomainsGive makes random moves. The fewest moves never fall by more than the number of moves out of
// domains above m1.
func TestOnlyFullDomainsGive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.IntRange(1, 3).Draw(t, "s")
		unmet := func(counts []int) bool { return FewestMoves(counts, s) > 0 }
		counts := rapid.SliceOfN(rapid.IntRange(0, 6), 2, 5).Filter(unmet).Draw(t, "counts")
		k := &SkewMeasure{Counts: slices.Clone(counts), Limit: s, Moves: FewestMoves(counts, s)}
		m1, given := k.GiverThreshold(), 0
		for range rapid.IntRange(1, 12).Draw(t, "moves") {
			from, to := rapid.IntRange(0, len(counts)-1).Draw(t, "from"), rapid.IntRange(0, len(counts)-1).Draw(t, "to")
			if from == to || k.Counts[from] == 0 {
				continue
			}
			k.Counts[from]--
			k.Counts[to]++
			if counts[from] > m1 {
				given++
			}
		}
		if gone := k.Moves - FewestMoves(k.Counts, s); gone > given {
			t.Fatalf("%v becomes %v, %d moves nearer to %d, by %d moves out of domains above %d", counts, k.Counts, gone, s, given, m1)
		}
	})
}
