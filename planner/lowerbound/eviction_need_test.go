package lowerbound

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestCountWithoutAmountsIsLower checks that countWithoutAmounts proves no more than CountBound, which knows which pods
// can lower the amounts, and that it often proves as much.
func TestCountWithoutAmountsIsLower(t *testing.T) {
	equal := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := &cluster.Snapshot{Pods: make([]cluster.Pod, 24)}
		onNode := make([][]podSize, 1+r.IntN(4))
		for i := range s.Pods {
			n := r.IntN(len(onNode))
			s.Pods[i].Node = cluster.NodeID(n)
			if r.IntN(4) > 0 { // the others may not leave
				onNode[n] = append(onNode[n], podSize{1 + r.Int64N(5), cluster.PodID(i)})
			}
		}
		d := newEvictionNeed(s, len(s.Pods))
		for n, pods := range onNode {
			d.addNode(nodeNeed{cluster.NodeID(n), r.IntN(len(pods) + 1), func() []amountNeed { return []amountNeed{{1 + r.Int64N(20), pods}} }})
		}
		for first := 0; first < len(s.Pods); first += 4 {
			var pods []cluster.PodID
			for i := first; i < first+4; i++ {
				pods = append(pods, cluster.PodID(i))
			}
			d.addGroup(r.IntN(3), pods)
		}
		got := d.countWithoutAmounts()
		d.addShares()
		nodes, groups := d.counts()
		want := CountBound(nodes, groups, d.pods)
		if got > want || got < max(d.sums[0], d.sums[1]) {
			t.Fatalf("seed %d: %d without amounts, %d with them, sums %v", seed, got, want, d.sums)
		}
		if got == want {
			equal++
		}
	}
	if equal < 1000 {
		t.Errorf("equal in %d of 2,000 cases", equal)
	}
}
