package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"math"
)

// countHard counts the matching pods of each domain and returns the least count
// among the domains of eligible nodes; 0 when there are fewer than minDomains.
func (b *scratch) countHard(slot int, c *constraint, hasKeys []bool) int64 {
	d := b.domains(slot, c.topo.size)
	for _, x := range c.pods.piles {
		if hasKeys[x.node] && c.eligible[x.node] {
			d[c.topo.domain[x.node]] += x.pods
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

func resized(s []int64, n int) []int64 {
	if cap(s) < n {
		return make([]int64, n)
	}
	return s[:n]
}

func flags(s []bool, n int) []bool {
	if cap(s) < n {
		return make([]bool, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func floats(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// scratch holds slices that are used again for every prediction.
type scratch struct {
	byDomain [][]int32
	min      []int64
	feasible []cluster.NodeID
	scores   [][]int64 // by scorer of the profile
	total    []int64
	seen     []bool
	skip     []bool
	raw      []float64
}

// domains returns the i-th slice of counts by domain, zeroed.
func (b *scratch) domains(i, size int) []int32 {
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
func (b *scratch) sumDomains(i int, t placedTerm) []int32 {
	d := b.domains(i, t.topo.size)
	for _, x := range t.pods.piles {
		if domain := t.topo.domain[x.node]; domain != noDomain {
			d[domain] += x.pods
		}
	}
	return d
}
