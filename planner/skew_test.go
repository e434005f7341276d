package planner

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bruteFewest finds the fewest moves by trying all move sequences level by level.
func bruteFewest(counts, leaving []int, s int) (int, bool) {
	type node struct{ counts, leaving []int }
	level := []node{{counts, leaving}}
	for depth := 0; depth <= 6; depth++ {
		seen := map[string]bool{}
		var next []node
		for _, n := range level {
			if spread(n.counts) <= s {
				return depth, true
			}
			for a := range n.counts {
				for b := range n.counts {
					if a == b || n.counts[a] == 0 || n.leaving[a] == 0 {
						continue
					}
					c, l := slices.Clone(n.counts), slices.Clone(n.leaving)
					c[a]--
					c[b]++
					l[a]--
					key := string(rune('0'+depth)) + keyOf(c) + "|" + keyOf(l)
					if !seen[key] {
						seen[key] = true
						next = append(next, node{c, l})
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
		want, ok := bruteFewest(counts, counts, s)
		if !ok {
			t.Skip("more than six moves")
		}
		if got := fewestMoves(counts, s); got != want {
			t.Fatalf("fewestMoves(%v, %d) = %d, exhaustive search finds %d", counts, s, got, want)
		}
	})
}

func TestFewestMovesWithPinnedPods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 3).Draw(t, "n")
		counts, leaving := make([]int, n), make([]int, n)
		for i := range counts {
			counts[i] = rapid.IntRange(0, 4).Draw(t, "count")
			leaving[i] = rapid.IntRange(0, counts[i]).Draw(t, "leaving")
		}
		s := rapid.IntRange(1, 2).Draw(t, "s")
		got, ok := fewestMovesOf(counts, leaving, s)
		want, wantOK := bruteFewest(counts, leaving, s)
		if ok != wantOK || ok && got != want {
			t.Fatalf("fewestMovesOf(%v, %v, %d) = %d %v, exhaustive search finds %d %v", counts, leaving, s, got, ok, want, wantOK)
		}
	})
}

func TestEveryUsefulMoveLowersTheCountByOne(t *testing.T) {
	counts := []int{1, 1, 4, 4}
	for want := fewestMoves(counts, 1); want > 0; want-- {
		if got := fewestMoves(counts, 1); got != want {
			t.Fatalf("%v: %d moves, want %d", counts, got, want)
		}
		lo, hi := slices.Index(counts, slices.Min(counts)), slices.Index(counts, slices.Max(counts))
		counts[lo]++
		counts[hi]--
	}
	if spread(counts) > 1 {
		t.Fatalf("%v is not even", counts)
	}
}
