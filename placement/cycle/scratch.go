package cycle

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"math"
)

// CountHard counts the matching pods of each domain and returns the least count
// among the domains of eligible nodes; 0 when there are fewer than minDomains.
func (b *Scratch) CountHard(slot int, c *SpreadConstraint, hasKeys []bool) int64 {
	d := b.Domains(slot, c.Topology.Size)
	for _, x := range c.Pods.Nodes {
		if hasKeys[x.Node] && c.CountedNodes[x.Node] {
			d[c.Topology.Domain[x.Node]] += x.Pods
		}
	}
	if len(c.Domains) < c.MinDomains {
		return 0
	}
	least := int64(math.MaxInt32)
	for _, x := range c.Domains {
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
	ByDomain  [][]int32
	MinCount  []int64
	Feasible  []cluster.NodeID
	Scores    [][]int64 // by scorer of the profile
	Total     []int64
	Seen      []bool
	Skip      []bool
	RawSpread []float64
}

// Domains returns the i-th slice of counts by domain, zeroed.
func (b *Scratch) Domains(i, size int) []int32 {
	for len(b.ByDomain) <= i {
		b.ByDomain = append(b.ByDomain, nil)
	}
	if cap(b.ByDomain[i]) < size {
		b.ByDomain[i] = make([]int32, size)
	}
	d := b.ByDomain[i][:size]
	clear(d)
	b.ByDomain[i] = d
	return d
}

// SumDomains adds up a counter by domain.
func (b *Scratch) SumDomains(i int, t TermWithTopology) []int32 {
	d := b.Domains(i, t.Topology.Size)
	for _, x := range t.Pods.Nodes {
		if domain := t.Topology.Domain[x.Node]; domain != model.NoDomain {
			d[domain] += x.Pods
		}
	}
	return d
}
