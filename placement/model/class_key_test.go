package model

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestAlikePodsHaveOneKey: over clusters with everything that pods may have, whoever
// is found to be alike has the same key; and ordinary pods of a controller are found.
func TestAlikePodsHaveOneKey(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		s, err := cluster.New(simulation.Varied(rand.New(rand.NewPCG(seed, 3)), 30, 400))
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(seed, 4))
		for range 20_000 {
			a, b := &s.Pods[rnd.IntN(len(s.Pods))], &s.Pods[rnd.IntN(len(s.Pods))]
			if w := s.WorkloadOf(a); w != nil && rnd.IntN(2) == 0 {
				b = &s.Pods[w.Pods[rnd.IntN(len(w.Pods))]]
			}
			if a == b || !sameClass(a, &EquivalenceClass{Sample: b, Simple: hasSimpleSpec(&b.Object.Spec)}) {
				continue
			}
			found++
			if !bytes.Equal(appendKey(nil, a), appendKey(nil, b)) {
				t.Fatalf("seed %d: %s and %s are alike and have other keys", seed, a.Object.Name, b.Object.Name)
			}
		}
	}
	if found < 10_000 {
		t.Errorf("%d pairs are alike: they show too little", found)
	}
}
