package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"math"
)

// CountHard counts the matching pods of each domain and returns the least count
// among the domains of eligible nodes; 0 when there are fewer than minDomains.
func (b *Scratch) CountHard(slot int, c *SpreadConstraint, hasKeys []bool) int64 {
	d := b.domains(slot, c.Topology.size)
	for _, x := range c.pods.Nodes {
		if hasKeys[x.node] && c.CountedNodes[x.node] {
			d[c.Topology.domain[x.node]] += x.pods
		}
	}
	if len(c.domains) < c.minDomains {
		return 0
	}
	least := int64(math.MaxInt32)
	for _, x := range c.domains {
		least = min(least, int64(d[x]))
	}
	return least
}

func ResizeInt64(s []int64, n int) []int64 {
	if cap(s) < n {
		return make([]int64, n)
	}
	return s[:n]
}

func ResizeBool(s []bool, n int) []bool {
	if cap(s) < n {
		return make([]bool, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func ResizeFloat64(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// Scratch holds slices that are used again for every prediction.
type Scratch struct {
	byDomain  [][]int32
	MinCount  []int64
	feasible  []cluster.NodeID
	scores    [][]int64 // by scorer of the profile
	total     []int64
	Seen      []bool
	Skip      []bool
	RawSpread []float64
}

// domains returns the i-th slice of counts by domain, zeroed.
func (b *Scratch) domains(i, size int) []int32 {
	for len(b.byDomain) <= i {
		b.byDomain = append(b.byDomain, nil)
	}
	if cap(b.byDomain[i]) < size {
		b.byDomain[i] = make([]int32, size)
	}
	d := b.byDomain[i][:size]
	clear(d)
	b.byDomain[i] = d
	return d
}

// sumDomains adds up a counter by domain.
func (b *Scratch) sumDomains(i int, t TermWithTopology) []int32 {
	d := b.domains(i, t.Topology.size)
	for _, x := range t.pods.Nodes {
		if domain := t.Topology.domain[x.node]; domain != NoDomain {
			d[domain] += x.pods
		}
	}
	return d
}
