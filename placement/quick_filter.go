package placement

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// allow finds the groups that the filters which count pods by domain let the
// newcomer onto, and reports whether they are others than before.
func (q *Predictor) allow() (changed bool) {
	r := q.beginShared()
	if len(q.allowed) != maxGroups+6 {
		q.allowed = make([]bool, maxGroups+6) // the last is nowhere
	}
	for g, n := range q.sight.land.nodes {
		ok := passesSpreadOfGroup(&r, int(n)) && passesInterPodOfGroup(&r, int(n), q.sight)
		changed = changed || q.allowed[g] != ok
		q.allowed[g] = ok
	}
	return changed
}

// beginShared counts by domain what filters read, for domains of several nodes.
func (q *Predictor) beginShared() Attempt {
	in, s, b, slot := q.in, q.sight, q.buf, 0
	b.MinCount = b.MinCount[:0]
	for i := range in.spread.hard {
		c, least := &in.spread.hard[i], int64(0)
		if c.Topology.OneNodeEach {
			least = leastPile(c, in.spread.hardNode)
		} else {
			least = b.CountHard(slot, c, in.spread.hardNode)
		}
		b.MinCount = append(b.MinCount, least)
		slot++
	}
	r := Attempt{Model: q.m, Buf: b, Replacement: in, NoPodMatches: true}
	for _, t := range s.required {
		for _, k := range b.sumDomains(slot, t) {
			r.NoPodMatches = r.NoPodMatches && k <= 0
		}
		slot++
	}
	for _, t := range s.anti {
		b.sumDomains(slot, t)
		slot++
	}
	r.slots = slot
	return r
}

// leastPile is the least count of a hard constraint whose domains are nodes.
func leastPile(c *SpreadConstraint, hasKeys []bool) int64 {
	if len(c.domains) < c.minDomains {
		return 0
	}
	least, counted := int64(math.MaxInt32), 0
	for _, x := range c.pods.Nodes {
		if hasKeys[x.node] && c.CountedNodes[x.node] {
			least = min(least, int64(x.pods))
			counted++
		}
	}
	if counted < len(c.domains) {
		return 0
	}
	return least
}

// passesSpreadOfGroup is spreads for what nodes of a group share.
func passesSpreadOfGroup(r *Attempt, n int) bool {
	for i := range r.Replacement.spread.hard {
		c := &r.Replacement.spread.hard[i]
		x := c.Topology.domain[n]
		if x == NoDomain || !c.Topology.OneNodeEach && int64(r.Buf.byDomain[i][x])+c.SelfMatch-r.Buf.MinCount[i] > c.maxSkew {
			return false
		}
	}
	return true
}

// passesInterPodOfGroup is agrees for what nodes of a group share.
func passesInterPodOfGroup(r *Attempt, n int, s *classView) bool {
	slot, found := len(r.Replacement.spread.hard), true
	for _, t := range s.required {
		x := t.Topology.domain[n]
		if x == NoDomain {
			return false
		}
		found = found && r.Buf.byDomain[slot][x] > 0
		slot++
	}
	if !found && (!r.NoPodMatches || !r.Replacement.InterPod.matchesSelf) {
		return false
	}
	for _, t := range s.anti {
		if x := t.Topology.domain[n]; x != NoDomain && r.Buf.byDomain[slot][x] > 0 {
			return false
		}
		slot++
	}
	return true
}

// barred are the nodes that are refused for the pods on themselves.
func (q *Predictor) barred() (out []cluster.NodeID) {
	for _, t := range q.sight.antiNode {
		for _, x := range t.pods.Nodes {
			if x.pods > 0 && t.Topology.domain[x.node] != NoDomain {
				out = append(out, x.node)
			}
		}
	}
	hard := q.in.spread.hard
	for i := range hard {
		c := &hard[i]
		if !c.Topology.OneNodeEach {
			continue
		}
		for _, x := range c.pods.Nodes {
			if q.in.spread.hardNode[x.node] && c.CountedNodes[x.node] && int64(x.pods)+c.SelfMatch-q.buf.MinCount[i] > c.maxSkew {
				out = append(out, x.node)
			}
		}
	}
	return out
}

// passes reports whether a node is feasible as things stand now.
func (q *Predictor) passes(n cluster.NodeID) bool {
	place := q.place[n]
	return q.allowed[q.sight.land.group[place]] && q.fitsAt(place) && !slices.Contains(q.barred(), n)
}
