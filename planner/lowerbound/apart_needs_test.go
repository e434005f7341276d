package lowerbound

import (
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestFewestLeavingIsTheSmallestCover compares the bound with an exhaustive search over small graphs. Some pods may not
// leave.
func TestFewestLeavingIsTheSmallestCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "pods")
		fixed := rapid.IntRange(0, 1<<n-1).Draw(t, "fixed")
		c := &conflictGraph{neighbors: map[cluster.PodID][]cluster.PodID{}, forced: map[cluster.PodID]bool{}}
		var edges [][2]int
		for a := range n {
			if fixed>>a&1 == 0 {
				c.able = append(c.able, cluster.PodID(a))
			}
			for b := range a {
				if !rapid.Bool().Draw(t, "conflict") {
					continue
				}
				switch p, q := cluster.PodID(a), cluster.PodID(b); {
				case fixed>>a&1 == 1 && fixed>>b&1 == 1:
					continue
				case fixed>>a&1 == 1:
					c.forced[q] = true
				case fixed>>b&1 == 1:
					c.forced[p] = true
				default:
					c.neighbors[p], c.neighbors[q] = append(c.neighbors[p], q), append(c.neighbors[q], p)
				}
				edges = append(edges, [2]int{a, b})
			}
		}
		want := n
		for gone := range 1 << n {
			if gone&fixed == 0 && !slices.ContainsFunc(edges, func(e [2]int) bool { return gone>>e[0]&1 == 0 && gone>>e[1]&1 == 0 }) {
				want = min(want, bits.OnesCount(uint(gone)))
			}
		}
		enough := maxCoverWork
		if got := c.fewestLeaving(&enough); got != want {
			t.Fatalf("fewestLeaving of %v with %b fixed is %d, the smallest cover has %d", edges, fixed, got, want)
		}
		none := -1
		if got := c.fewestLeaving(&none); got > want {
			t.Fatalf("without a budget, fewestLeaving of %v with %b fixed is %d, but %d suffice", edges, fixed, got, want)
		}
	})
}

func TestACliqueNeedsLittleWork(t *testing.T) {
	c := &conflictGraph{neighbors: map[cluster.PodID][]cluster.PodID{}, forced: map[cluster.PodID]bool{}}
	const n = 60
	for a := range n {
		c.able = append(c.able, cluster.PodID(a))
		for b := range n {
			if a != b {
				c.neighbors[cluster.PodID(a)] = append(c.neighbors[cluster.PodID(a)], cluster.PodID(b))
			}
		}
	}
	budget := n * n * n
	if got := c.fewestLeaving(&budget); got != n-1 || budget < 0 {
		t.Errorf("a clique of %d: %d must leave, and %d of the budget is left", n, got, budget)
	}
}
