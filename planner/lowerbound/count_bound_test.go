package lowerbound

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestFewestIsTheFewest compares CountBound with a search through all sets of up to 14 pods.
func TestFewestIsTheFewest(t *testing.T) {
	both := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 9))
		nodes, groups := make([]int, 1+r.IntN(4)), make([]int, 1+r.IntN(4))
		pods := make([]Pod, r.IntN(15))
		there := [2][4]int{}
		for i := range pods {
			pods[i] = Pod{int32(r.IntN(len(nodes)+1)) - 1, int32(r.IntN(len(groups)+1)) - 1}
			if pods[i].Node >= 0 {
				there[0][pods[i].Node]++
			}
			if pods[i].Group >= 0 {
				there[1][pods[i].Group]++
			}
		}
		for i := range nodes {
			nodes[i] = r.IntN(4)
		}
		for i := range groups {
			groups[i] = r.IntN(4)
		}
		want, sum, most := len(pods), 0, 0
		for i := range nodes {
			sum += min(nodes[i], there[0][i])
		}
		most = sum
		sum = 0
		for i := range groups {
			sum += min(groups[i], there[1][i])
		}
		most = max(most, sum)
		for set := range uint(1) << len(pods) {
			if bits.OnesCount(set) < want && meetsNeeds(set, pods, nodes, groups, there) {
				want = bits.OnesCount(set)
			}
		}
		got := CountBound(nodes, groups, pods)
		if got != want {
			t.Fatalf("seed %d: nodes %v groups %v pods %v: %d, want %d", seed, nodes, groups, pods, got, want)
		}
		if got > most {
			both++
		}
	}
	if both < 300 {
		t.Errorf("only %d cases need more evictions than the nodes alone or the groups alone", both)
	}
}

func meetsNeeds(set uint, pods []Pod, nodes, groups []int, there [2][4]int) bool {
	var n, g [4]int
	for i, p := range pods {
		if set>>i&1 == 0 {
			continue
		}
		if p.Node >= 0 {
			n[p.Node]++
		}
		if p.Group >= 0 {
			g[p.Group]++
		}
	}
	for i, need := range nodes {
		if n[i] < min(need, there[0][i]) {
			return false
		}
	}
	for i, need := range groups {
		if g[i] < min(need, there[1][i]) {
			return false
		}
	}
	return true
}

// BenchmarkCountBound uses 5,000 nodes and 150,000 pods.
func BenchmarkCountBound(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	nodes, groups, pods := make([]int, 5000), make([]int, 7500), make([]Pod, 150_000)
	for i := range nodes {
		nodes[i] = max(0, r.IntN(12)-4)
	}
	for i := range groups {
		groups[i] = max(0, r.IntN(9)-3)
	}
	for i := range pods {
		pods[i] = Pod{int32(r.IntN(len(nodes))), int32(i / 20)}
	}
	b.ReportAllocs()
	for b.Loop() {
		b.ReportMetric(float64(CountBound(nodes, groups, pods)), "pods")
	}
}
