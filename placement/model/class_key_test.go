package model

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestAlikePodsHaveOneKey builds clusters whose pods use every field. Pods that are equal by
// sameClass must have equal keys. Ordinary pods of one controller must be equal by sameClass.
func TestAlikePodsHaveOneKey(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		s := must.Get(cluster.New(simulation.Varied(rand.New(rand.NewPCG(seed, 3)), 30, 400)))(t)
		rnd := rand.New(rand.NewPCG(seed, 4))
		for range 20_000 {
			a, b := &s.Pods[rnd.IntN(len(s.Pods))], &s.Pods[rnd.IntN(len(s.Pods))]
			if workload := s.WorkloadOf(a); workload != nil && rnd.IntN(2) == 0 {
				b = &s.Pods[workload.Pods[rnd.IntN(len(workload.Pods))]]
			}
			if a == b || !sameClass(a, &EquivalenceClass{Sample: b, simple: hasNoRareFields(b.Object)}) {
				continue
			}
			found++
			if !bytes.Equal(appendKey(nil, a), appendKey(nil, b)) {
				t.Fatalf("seed %d: sameClass holds for %s and %s, but their keys differ", seed, a.Object.Name, b.Object.Name)
			}
		}
	}
	if found < 10_000 {
		t.Errorf("sameClass held for %d pairs, want at least 10000", found)
	}
}
