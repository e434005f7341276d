package lowerbound

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestConflictsThatTooFewDomainsKeep compares the bound with every order of moves in a small cluster. The pods of each
// domain conflict with each other, and a replacement lands only in a domain without pods.
func TestConflictsThatTooFewDomainsKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pods, empty := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "pods"), rapid.IntRange(0, 4).Draw(t, "empty")
		x := &apartGroup{byDomain: map[string]*crowd{}}
		for i, n := range pods {
			c := &crowd{pods: n, conflicts: n * (n - 1) / 2, able: n, degree: map[cluster.PodID]int{}}
			for pod := range n {
				c.degree[cluster.PodID(pod)] = n - 1
			}
			x.byDomain[fmt.Sprint(i)] = c
		}
		gains, left := x.gains()
		gains = gains[:min(empty, len(gains))]
		for _, ended := range gains {
			left -= ended
		}
		wantLeft, wantMoves := fewestConflicts(append(slices.Clone(pods), make([]int, empty)...))
		if left != wantLeft || len(gains) != wantMoves {
			t.Errorf("%v pods and %d empty domains: %d conflicts remain after %d moves, want %d after %d", pods, empty, left, len(gains),
				wantLeft, wantMoves)
		}
	})
}

// fewestConflicts returns the fewest conflicts of pods that have not moved, and the fewest moves to them. A negative
// number of pods stands for a replacement.
func fewestConflicts(domains []int) (fewest, moves int) {
	reached, todo := map[string]int{fmt.Sprint(domains): 0}, [][]int{domains}
	fewest = -1
	for i := 0; i < len(todo); i++ {
		at, conflicts := todo[i], 0
		for _, n := range at {
			conflicts += max(0, n*(n-1)/2)
			if n < 0 {
				conflicts-- // the formula counts one for -1
			}
		}
		if fewest < 0 || conflicts < fewest {
			fewest, moves = conflicts, reached[fmt.Sprint(at)]
		}
		for from, n := range at {
			for to := range at {
				if n == 0 || at[to] != 0 {
					continue
				}
				next := slices.Clone(at)
				next[from], next[to] = max(0, n-1), -1
				if key := fmt.Sprint(next); reached[key] == 0 && key != fmt.Sprint(domains) {
					reached[key] = reached[fmt.Sprint(at)] + 1
					todo = append(todo, next)
				}
			}
		}
	}
	return fewest, moves
}
