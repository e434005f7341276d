package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// domains are the values of a topology key.
type domains struct {
	ByNode     []int32 // by node; noDomain where the label is missing or empty
	ids map[string]int32
}

const NoDomain = -1

// domainCache holds the domains of topology keys.
type domainCache map[string]*domains

func (x domainCache) of(s *cluster.Snapshot, key string) *domains {
	if d := x[key]; d != nil {
		return d
	}
	d := &domains{make([]int32, len(s.Nodes)), map[string]int32{}}
	for i := range s.Nodes {
		value, _ := s.Nodes[i].Label(key)
		if value == "" {
			d.ByNode[i] = NoDomain
			continue
		}
		n, seen := d.ids[value]
		if !seen {
			n = int32(len(d.ids))
			d.ids[value] = n
		}
		d.ByNode[i] = n
	}
	x[key] = d
	return d
}

// ZonesOf are the zones of nodes, "" where there is none.
func ZonesOf(s *cluster.Snapshot) []string {
	zones := make([]string, len(s.Nodes))
	for i := range s.Nodes {
		zones[i], _ = s.Nodes[i].Label(ZoneKey)
	}
	return zones
}

// SkewMeasure measures SkewAtMost by the pods that have to move, which falls by one
// with every move that helps, where max minus min may not.
type SkewMeasure struct {
	Domains *domains
	IndexByDomain    []int32 // by domain: its position in counts, or noDomain
	Counts  []int
	Limit   int
	Moves   int // fewest moves that meet the limit
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

// Spread is max minus min.
func Spread(counts []int) int {
	lo, hi := counts[0], counts[0]
	for _, c := range counts {
		lo, hi = min(lo, c), max(hi, c)
	}
	return hi - lo
}

// FewestMoves is the least number of pods that must change domain, their total
// being fixed, so that no domain holds more than s pods more than another:
//
//	min over m of max( sum over z of (c_z - m - s)+ , sum over z of (m - c_z)+ )
//
// With m the emptiest domain's count at the end, the first sum must leave and
// the second must arrive; the larger is needed and is enough, because domains
// between m and m+s can give or take the difference. The terms are monotone in
// m, so the minimum lies where they cross. O(domains x (max - min)).
func FewestMoves(counts []int, s int) int {
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
