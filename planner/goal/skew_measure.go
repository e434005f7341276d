package goal

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// GiverThreshold returns the threshold m1 for movablePods.podsThatMustGive in package lowerbound. If the limit is
// below 1, the threshold is below every count.
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

// ReachableSkew returns the least skew, at least the limit, that plans can reach, and the fewest moves for it.
// leaving and arriving bound the pods that leave and enter each domain.
func (k *SkewMeasure) ReachableSkew(leaving, arriving []int) (limit, moves int) {
	for s := k.Limit; s < Spread(k.Counts); s++ {
		if n, ok := FewestMovesWithDomainLimits(k.Counts, leaving, arriving, s); ok {
			return s, n
		}
	}
	return Spread(k.Counts), 0
}

// ExcessAfterLeaving returns the excess after a pod moves from a node to the emptiest domain. A pod from a node that
// the goal does not count increases the total.
func (k *SkewMeasure) ExcessAfterLeaving(_ cluster.PodID, from cluster.NodeID) int64 {
	if from == cluster.NoNode {
		return k.Excess()
	}
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
	emptiest := slices.Index(k.Counts, slices.Min(k.Counts))
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

// SkewMeasure measures SkewAtMost by the fewest pods that must move. Every useful move lowers the fewest moves by
// one, but may leave the skew unchanged.
type SkewMeasure struct {
	Domains       *domains
	IndexByDomain []int32 // by domain: its index in Counts, or NoDomain
	Counts        []int   // goals may share it until a move changes it
	Limit         int
	notCounted    []bool // by node; nil if no such node
	Moves         int    // fewest moves that meet the limit
	// excessAfterLeaving caches the result of ExcessAfterLeaving plus one, by index in Counts. The value 0 means
	// unknown. The last entry is for pods outside the counted domains.
	excessAfterLeaving []int32
	shared             bool // a clone shares Counts
}

func newSkewMeasure(c *measureCache, g *plan.Goal) Measure {
	s, d := c.snapshot, c.domains.forKey(c.snapshot, g.TopologyKey)
	k := &SkewMeasure{Domains: d, IndexByDomain: c.indexOf(d, g.Domains), Counts: make([]int, len(g.Domains)), Limit: int(g.Limit),
		notCounted: g.NotCounted}
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

// domainList identifies a list of domains that goals share.
type domainList struct {
	of    *domains
	first *string
	n     int
}

// indexOf returns, by domain, its index in the list, or NoDomain.
func (c *measureCache) indexOf(d *domains, list []string) []int32 {
	var key domainList
	if len(list) > 0 {
		key = domainList{d, &list[0], len(list)}
		if index := c.indexes[key]; index != nil {
			return index
		}
	}
	index := make([]int32, len(d.ids))
	for i := range index {
		index[i] = NoDomain
	}
	for i, name := range list {
		if n, ok := d.ids[name]; ok {
			index[n] = int32(i)
		}
	}
	if len(list) > 0 {
		c.indexes[key] = index
	}
	return index
}

func (k *SkewMeasure) watch(t *Tracker, i int32) { t.watchPods(i) }

// addEffects adds the effect of a landing in each domain.
func (k *SkewMeasure) addEffects(a *TargetCheck, t *Tracker, i int32, pod cluster.PodID) {
	a.groups = append(a.groups, k.effects(a.From, t.Asks(int(i), pod)))
}

// effects returns the effects of a landing. The parameter asks says whether an improvement counts.
// Landings in domains with the same count have the same effect, which is computed once: host names
// are thousands of domains with few counts.
func (k *SkewMeasure) effects(from cluster.NodeID, asks bool) groupEffect {
	if at, ok := k.DomainIndex(from); ok {
		k.Counts[at]--
		defer func() { k.Counts[at]++ }()
	}
	lowest := slices.Min(k.Counts)
	var buf [16]effect
	byCount := append(buf[:0], make([]effect, slices.Max(k.Counts)-lowest+1)...)
	outside := k.landingEffect(false)
	g := groupEffect{domainByNode: k.Domains.ByNode, notCounted: k.notCounted, effects: make([]effect, len(k.IndexByDomain)+1)}
	g.effects[0] = outside
	for domain, slot := range k.IndexByDomain {
		if g.effects[domain+1] = outside; slot == NoDomain {
			continue
		}
		e := &byCount[k.Counts[slot]-lowest]
		if *e&computed == 0 {
			k.Counts[slot]++
			*e = computed | k.landingEffect(asks)
			k.Counts[slot]--
		}
		g.effects[domain+1] = *e &^ computed
	}
	return g
}

// computed marks the effects that are known while effects computes them.
const computed effect = 1 << 7

// landingEffect compares the counts after a landing with the excess before it.
func (k *SkewMeasure) landingEffect(asks bool) (e effect) {
	before, after := k.Excess(), int64(FewestMoves(k.Counts, k.Limit))
	if after <= before {
		e |= harmless
	}
	if after < before && asks {
		e |= helpful
	}
	return e
}

func (k *SkewMeasure) clone() Measure {
	k.shared = true // few goals of a plan change
	c := *k
	c.excessAfterLeaving = nil
	return &c
}

// DomainIndex returns the index in Counts of the node's domain. DomainIndex returns false if the goal does not count
// the node.
func (k *SkewMeasure) DomainIndex(n cluster.NodeID) (int, bool) {
	d := k.Domains.of(n, k.notCounted)
	if d == NoDomain {
		return 0, false
	}
	i := k.IndexByDomain[d]
	return int(i), i != NoDomain
}

// SameNodes reports whether both goals count the same nodes in the same domains.
func (k *SkewMeasure) SameNodes(o *SkewMeasure) bool {
	return sameMarks(k.notCounted, o.notCounted) && k.Domains == o.Domains && len(k.Counts) == len(o.Counts) &&
		(len(k.IndexByDomain) == 0 || &k.IndexByDomain[0] == &o.IndexByDomain[0] || slices.Equal(k.IndexByDomain, o.IndexByDomain))
}

func (k *SkewMeasure) Excess() int64 { return int64(k.Moves) }

func (k *SkewMeasure) ExcessAfter(_ cluster.PodID, from, to cluster.NodeID) int64 {
	k.movePod(from, to)
	n := FewestMoves(k.Counts, k.Limit)
	k.movePod(to, from)
	return int64(n)
}

func (k *SkewMeasure) CountsLanding(n cluster.NodeID) bool {
	_, counted := k.DomainIndex(n)
	return counted || n == cluster.NoNode
}

func (k *SkewMeasure) Move(_ cluster.PodID, from, to cluster.NodeID) {
	if k.shared {
		k.Counts, k.shared = slices.Clone(k.Counts), false
	}
	k.movePod(from, to)
	k.Moves = FewestMoves(k.Counts, k.Limit)
	clear(k.excessAfterLeaving)
}

func (k *SkewMeasure) movePod(from, to cluster.NodeID) {
	if i, ok := k.DomainIndex(from); ok {
		k.Counts[i]--
	}
	if i, ok := k.DomainIndex(to); ok {
		k.Counts[i]++
	}
}

func (k *SkewMeasure) Reported() float64 { return float64(max(0, Spread(k.Counts)-k.Limit)) }
