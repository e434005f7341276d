package cycle

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/placement/model"
)

// CountHardSpread counts the matching pods of each domain. The result is the lowest count among the
// domains of eligible nodes; 0 if there are fewer than minDomains domains.
func (b *Scratch) CountHardSpread(slot int, c *SpreadConstraint, hasKeys []bool) int64 {
	d := b.ResetCounts(slot, c.Topology.Size)
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

// ResizeSlice returns a slice of length n that reuses s if s is large enough. ResizeSlice does not clear the
// values.
func ResizeSlice[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// ResizeZeroed resizes a slice like Resize and sets every value to zero.
func ResizeZeroed[T any](s []T, n int) []T {
	s = ResizeSlice(s, n)
	clear(s)
	return s
}

// Scratch holds slices that every prediction reuses.
type Scratch struct {
	CountsByDomain  [][]int32 // for hard constraints, required affinity, anti-affinity, that of pods on nodes, then scores
	MinSpreadCounts []int64
	Seen            []bool
}

// ResetCounts returns the i-th slice of counts by domain, with every count 0.
func (b *Scratch) ResetCounts(i, size int) []int32 {
	for len(b.CountsByDomain) <= i {
		b.CountsByDomain = append(b.CountsByDomain, nil)
	}
	b.CountsByDomain[i] = ResizeZeroed(b.CountsByDomain[i], size)
	return b.CountsByDomain[i]
}

// CountTerm counts the pods of a term in each domain. CountTerm stores the counts in the i-th slice
// of CountsByDomain.
func (b *Scratch) CountTerm(i int, t TermWithTopology) []int32 {
	d := b.ResetCounts(i, t.Topology.Size)
	for _, x := range t.Pods.Nodes {
		if domain := t.Topology.Domain[x.Node]; domain != model.NoDomain {
			d[domain] += x.Pods
		}
	}
	return d
}
