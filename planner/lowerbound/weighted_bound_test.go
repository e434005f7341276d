package lowerbound

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestPricedNeverExceedsTheFewest compares WeightedBound with a search through all sets of up to 13 pods. With
// unequal sizes the bound must often be higher than CountBound.
func TestPricedNeverExceedsTheFewest(t *testing.T) {
	exact, sharper := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 10))
		nodes, groups := 1+r.IntN(3), 1+r.IntN(3)
		needs := make([]float64, nodes+groups)
		pods, of := make([]Pod, 1+r.IntN(13)), [][]needShare{}
		var shares podShares
		for i := range pods {
			pods[i] = Pod{int32(r.IntN(nodes)), int32(r.IntN(groups))}
			size := smallestChoice(r, 0.2, 0.3, 0.5, 1)
			of = append(of, []needShare{{pods[i].Node, size}, {int32(nodes) + pods[i].Group, 1}})
			shares.Add(of[i]...)
		}
		for set, n := r.Uint64()&(1<<len(pods)-1), 0; n < len(pods); n++ { // chooses needs that some set of pods meets
			if set>>n&1 == 1 {
				for _, x := range of[n] {
					needs[x.Need] += x.Amount
				}
			}
		}
		for g := range groups {
			needs[nodes+g] = float64(r.IntN(1 + int(needs[nodes+g])))
		}
		want := len(pods)
		for set := range uint64(1) << len(pods) {
			if n := bits.OnesCount64(set); n < want && coversNeeds(set, of, needs) {
				want = n
			}
		}
		got := weightedBound(needs, &shares, len(pods))
		if got > want {
			t.Fatalf("seed %d: needs %v, shares %v: bound %d, but %d pods are enough", seed, needs, of, got, want)
		}
		if got == want {
			exact++
		}
		counts := [2][]int{make([]int, nodes), make([]int, groups)}
		for g := range groups {
			counts[1][g] = int(needs[nodes+g])
		}
		if got > CountBound(counts[0], counts[1], pods) {
			sharper++
		}
	}
	t.Logf("exact in %d cases, higher than CountBound in %d", exact, sharper)
	if exact < 1000 || sharper < 300 {
		t.Errorf("exact in %d of 2000 cases (want 1000), higher than CountBound in %d (want 300)", exact, sharper)
	}
}

func smallestChoice(r *rand.Rand, of ...float64) float64 { return of[r.IntN(len(of))] }

func coversNeeds(set uint64, of [][]needShare, needs []float64) bool {
	has := make([]float64, len(needs))
	for i, shares := range of {
		if set>>i&1 == 1 {
			for _, x := range shares {
				has[x.Need] += x.Amount
			}
		}
	}
	for i, n := range needs {
		if has[i] < n-1e-9 {
			return false
		}
	}
	return true
}

// Add appends the shares of one pod. Add ignores a pod without shares.
func (s *podShares) Add(of ...needShare) {
	if len(of) > 0 {
		s.all = append(s.all, of...)
		s.ends = append(s.ends, int32(len(s.all)))
	}
}
