package model

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestPodsOfATemplateHaveOneKey builds clusters whose pods use every field. Pods of one template must have equal keys.
// Most ordinary pods of one controller must have one template.
func TestPodsOfATemplateHaveOneKey(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		s := must.Get(cluster.New(simulation.Varied(rand.New(rand.NewPCG(seed, 3)), 30, 400)))(t)
		m := NewCluster(s, nil)
		first := map[*cluster.Template]*cluster.Pod{}
		for i := range s.Pods {
			b := &s.Pods[i]
			a, known := first[b.Template]
			if !known {
				first[b.Template] = b
				continue
			}
			found++
			if !bytes.Equal(m.appendClassKey(nil, a), m.appendClassKey(nil, b)) {
				t.Fatalf("seed %d: %s and %s have one template, but their keys differ", seed, a.Object.Name, b.Object.Name)
			}
		}
	}
	if found < 1500 {
		t.Errorf("%d pods have the template of another pod, want at least 1500", found)
	}
}
