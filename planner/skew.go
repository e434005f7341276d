package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
)

// domainIndex numbers the values of topology keys: per key, the value of each
// node, "" where the label is missing.
type domainIndex map[string][]string

func (x domainIndex) of(s *cluster.Snapshot, key string) []string {
	if values, ok := x[key]; ok {
		return values
	}
	values := make([]string, len(s.Nodes))
	for i := range s.Nodes {
		values[i], _ = s.Nodes[i].Label(key)
	}
	x[key] = values
	return values
}

// skew measures SkewAtMost by the pods that have to move, which falls by one
// with every move that helps, where max minus min may not.
type skew struct {
	nodeDomain []string
	index      map[string]int // domain -> position in counts
	counts     []int
	limit      int
	moves      int // fewest moves that meet the limit
}

func newSkew(s *cluster.Snapshot, w *placement.World, g plan.Goal, nodeDomain []string) *skew {
	k := &skew{nodeDomain: nodeDomain, index: make(map[string]int, len(g.Domains)), counts: make([]int, len(g.Domains)), limit: int(g.Limit)}
	for i, d := range g.Domains {
		k.index[d] = i
	}
	for _, p := range g.Pods {
		if i, ok := k.domain(w.NodeOf(p)); ok {
			k.counts[i]++
		}
	}
	k.moves = fewestMoves(k.counts, k.limit)
	return k
}

func (k *skew) domain(n cluster.NodeID) (int, bool) {
	if n == cluster.NoNode {
		return 0, false
	}
	i, ok := k.index[k.nodeDomain[n]]
	return i, ok
}

func (k *skew) excess() int64 { return int64(k.moves) }

func (k *skew) with(_ cluster.PodID, from, to cluster.NodeID) int64 {
	undo := k.shift(from, to)
	n := fewestMoves(k.counts, k.limit)
	undo()
	return int64(n)
}

func (k *skew) move(_ cluster.PodID, from, to cluster.NodeID) {
	k.shift(from, to)
	k.moves = fewestMoves(k.counts, k.limit)
}

func (k *skew) shift(from, to cluster.NodeID) (undo func()) {
	a, hasA := k.domain(from)
	b, hasB := k.domain(to)
	add := func(d int) {
		if hasA {
			k.counts[a] -= d
		}
		if hasB {
			k.counts[b] += d
		}
	}
	add(1)
	return func() { add(-1) }
}

func (k *skew) reported() float64 { return float64(max(0, spread(k.counts)-k.limit)) }

// spread is max minus min.
func spread(counts []int) int {
	lo, hi := counts[0], counts[0]
	for _, c := range counts {
		lo, hi = min(lo, c), max(hi, c)
	}
	return hi - lo
}

// fewestMoves is the least number of pods that must change domain, their total
// being fixed, so that no domain holds more than s pods more than another:
//
//	min over m of max( sum over z of (c_z - m - s)+ , sum over z of (m - c_z)+ )
//
// With m the emptiest domain's count at the end, the first sum must leave and
// the second must arrive; the larger is needed and is enough, because domains
// between m and m+s can give or take the difference. The terms are monotone in
// m, so the minimum lies where they cross. O(domains x (max - min)).
func fewestMoves(counts []int, s int) int {
	lo, hi := counts[0], counts[0]
	for _, c := range counts {
		lo, hi = min(lo, c), max(hi, c)
	}
	if hi-lo <= s {
		return 0
	}
	best := -1
	for m := lo; m <= hi; m++ {
		out, in := 0, 0
		for _, c := range counts {
			out += max(0, c-m-s)
			in += max(0, m-c)
		}
		n := max(out, in)
		if best >= 0 && n >= best {
			return best
		}
		best = n
	}
	return best
}
