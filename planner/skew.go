package planner

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// domains are the values of a topology key.
type domains struct {
	of     []int32 // by node; noDomain where the label is missing or empty
	number map[string]int32
}

const noDomain = -1

// domainIndex holds the domains of topology keys.
type domainIndex map[string]*domains

func (x domainIndex) of(s *cluster.Snapshot, key string) *domains {
	if d := x[key]; d != nil {
		return d
	}
	d := &domains{make([]int32, len(s.Nodes)), map[string]int32{}}
	for i := range s.Nodes {
		value, _ := s.Nodes[i].Label(key)
		if value == "" {
			d.of[i] = noDomain
			continue
		}
		n, seen := d.number[value]
		if !seen {
			n = int32(len(d.number))
			d.number[value] = n
		}
		d.of[i] = n
	}
	x[key] = d
	return d
}

// zonesOf are the zones of nodes, "" where there is none.
func zonesOf(s *cluster.Snapshot) []string {
	zones := make([]string, len(s.Nodes))
	for i := range s.Nodes {
		zones[i], _ = s.Nodes[i].Label(ZoneKey)
	}
	return zones
}

// skew measures SkewAtMost by the pods that have to move, which falls by one
// with every move that helps, where max minus min may not.
type skew struct {
	domains *domains
	slot    []int32 // by domain: its position in counts, or noDomain
	counts  []int
	limit   int
	moves   int // fewest moves that meet the limit
	// after is, by position in counts, the fewest once a pod has left it for the emptiest
	// domain, and one; 0: not known. The last is of pods that stand in no domain of them.
	after []int32
}

func newSkew(s *cluster.Snapshot, g plan.Goal, d *domains) *skew {
	k := &skew{domains: d, slot: make([]int32, len(d.number)), counts: make([]int, len(g.Domains)), limit: int(g.Limit)}
	for i := range k.slot {
		k.slot[i] = noDomain
	}
	for i, name := range g.Domains {
		if n, ok := d.number[name]; ok {
			k.slot[n] = int32(i)
		}
	}
	for _, id := range g.Pods {
		if p := &s.Pods[id]; !p.Terminal {
			if i, ok := k.domain(p.Node); ok {
				k.counts[i]++
			}
		}
	}
	k.moves = fewestMoves(k.counts, k.limit)
	return k
}

func (k *skew) clone() measure {
	c := *k
	c.counts, c.after = slices.Clone(k.counts), nil
	return &c
}

func (k *skew) domain(n cluster.NodeID) (int, bool) {
	if n == cluster.NoNode || k.domains.of[n] == noDomain {
		return 0, false
	}
	i := k.slot[k.domains.of[n]]
	return int(i), i != noDomain
}

func (k *skew) excess() int64 { return int64(k.moves) }

func (k *skew) with(_ cluster.PodID, from, to cluster.NodeID) int64 {
	k.shift(from, to)
	n := fewestMoves(k.counts, k.limit)
	k.shift(to, from)
	return int64(n)
}

func (k *skew) move(_ cluster.PodID, from, to cluster.NodeID) {
	k.shift(from, to)
	k.moves = fewestMoves(k.counts, k.limit)
	clear(k.after)
}

func (k *skew) shift(from, to cluster.NodeID) {
	if i, ok := k.domain(from); ok {
		k.counts[i]--
	}
	if i, ok := k.domain(to); ok {
		k.counts[i]++
	}
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
