package placement

import "github.com/evenkeel-project/evenkeel/cluster"

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
