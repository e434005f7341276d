package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"slices"
)

// GiverThreshold is m1 of givers; below every count where the limit is less than 1.
func (k *SkewMeasure) GiverThreshold() int {
	m := slices.Min(k.Counts)
	if k.Limit < 1 {
		return m - 1
	}
	for ; ; m++ {
		out := 0
		for _, c := range k.Counts {
			out += max(0, c-m-k.Limit)
		}
		if out < k.Moves {
			return m
		}
	}
}

// ReachableSkew is the least skew, not below the limit, that can be met when only so many
// pods leave and enter each domain, and the fewest moves that meet it.
func (k *SkewMeasure) ReachableSkew(leaving, arriving []int) (limit, moves int) {
	for s := k.Limit; s < Spread(k.Counts); s++ {
		if n, ok := FewestMovesWithin(k.Counts, leaving, arriving, s); ok {
			return s, n
		}
	}
	return Spread(k.Counts), 0
}

// ExcessAfterLeaving is what moves there are once a pod has left a node for the emptiest domain.
// One that stands where the goal does not count adds to what it counts.
func (k *SkewMeasure) ExcessAfterLeaving(from cluster.NodeID) int64 {
	if k.excessAfterLeaving == nil {
		k.excessAfterLeaving = make([]int32, len(k.Counts)+1)
	}
	a, counted := k.DomainIndex(from)
	if !counted {
		a = len(k.Counts)
	}
	if k.excessAfterLeaving[a] > 0 {
		return int64(k.excessAfterLeaving[a] - 1)
	}
	emptiest := 0
	for i, c := range k.Counts {
		if c < k.Counts[emptiest] {
			emptiest = i
		}
	}
	k.Counts[emptiest]++
	if counted {
		k.Counts[a]--
	}
	n := FewestMoves(k.Counts, k.Limit)
	k.Counts[emptiest]--
	if counted {
		k.Counts[a]++
	}
	k.excessAfterLeaving[a] = int32(n) + 1
	return int64(n)
}

// SkewMeasure measures SkewAtMost by the pods that have to move, which falls by one
// with every move that helps, where max minus min may not.
type SkewMeasure struct {
	Domains       *domains
	IndexByDomain []int32 // by domain: its position in counts, or noDomain
	Counts        []int
	Limit         int
	Moves         int // fewest moves that meet the limit
	// excessAfterLeaving is, by position in counts, the fewest once a pod has left it for the emptiest
	// domain, and one; 0: not known. The last is of pods that stand in no domain of them.
	excessAfterLeaving []int32
}

func newSkewMeasure(s *cluster.Snapshot, g plan.Goal, d *domains) *SkewMeasure {
	k := &SkewMeasure{Domains: d, IndexByDomain: make([]int32, len(d.ids)), Counts: make([]int, len(g.Domains)), Limit: int(g.Limit)}
	for i := range k.IndexByDomain {
		k.IndexByDomain[i] = NoDomain
	}
	for i, name := range g.Domains {
		if n, ok := d.ids[name]; ok {
			k.IndexByDomain[n] = int32(i)
		}
	}
	for _, id := range g.Pods {
		if p := &s.Pods[id]; !p.Terminal {
			if i, ok := k.DomainIndex(p.Node); ok {
				k.Counts[i]++
			}
		}
	}
	k.Moves = FewestMoves(k.Counts, k.Limit)
	return k
}

func (k *SkewMeasure) clone() Measure {
	c := *k
	c.Counts, c.excessAfterLeaving = slices.Clone(k.Counts), nil
	return &c
}

func (k *SkewMeasure) DomainIndex(n cluster.NodeID) (int, bool) {
	if n == cluster.NoNode || k.Domains.ByNode[n] == NoDomain {
		return 0, false
	}
	i := k.IndexByDomain[k.Domains.ByNode[n]]
	return int(i), i != NoDomain
}

func (k *SkewMeasure) Excess() int64 { return int64(k.Moves) }

func (k *SkewMeasure) ExcessAfter(_ cluster.PodID, from, to cluster.NodeID) int64 {
	k.shift(from, to)
	n := FewestMoves(k.Counts, k.Limit)
	k.shift(to, from)
	return int64(n)
}

func (k *SkewMeasure) Move(_ cluster.PodID, from, to cluster.NodeID) {
	k.shift(from, to)
	k.Moves = FewestMoves(k.Counts, k.Limit)
	clear(k.excessAfterLeaving)
}

func (k *SkewMeasure) shift(from, to cluster.NodeID) {
	if i, ok := k.DomainIndex(from); ok {
		k.Counts[i]--
	}
	if i, ok := k.DomainIndex(to); ok {
		k.Counts[i]++
	}
}

func (k *SkewMeasure) Reported() float64 { return float64(max(0, Spread(k.Counts)-k.Limit)) }
