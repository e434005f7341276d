package placement

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// allow finds the groups that the filters which count pods by domain let the
// newcomer onto, and reports whether they are others than before.
func (q *quick) allow() (changed bool) {
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
func (q *quick) beginShared() round {
	in, s, b, slot := q.in, q.sight, q.buf, 0
	b.min = b.min[:0]
	for i := range in.spread.hard {
		c, least := &in.spread.hard[i], int64(0)
		if c.topo.single {
			least = leastPile(c, in.spread.hardNode)
		} else {
			least = b.countHard(slot, c, in.spread.hardNode)
		}
		b.min = append(b.min, least)
		slot++
	}
	r := round{m: q.m, buf: b, in: in, bootstrap: true}
	for _, t := range s.required {
		for _, k := range b.sumDomains(slot, t) {
			r.bootstrap = r.bootstrap && k <= 0
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
func leastPile(c *constraint, hasKeys []bool) int64 {
	if len(c.domains) < c.minDomains {
		return 0
	}
	least, counted := int64(math.MaxInt32), 0
	for _, x := range c.pods.piles {
		if hasKeys[x.node] && c.eligible[x.node] {
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
func passesSpreadOfGroup(r *round, n int) bool {
	for i := range r.in.spread.hard {
		c := &r.in.spread.hard[i]
		x := c.topo.domain[n]
		if x == noDomain || !c.topo.single && int64(r.buf.byDomain[i][x])+c.self-r.buf.min[i] > c.maxSkew {
			return false
		}
	}
	return true
}

// passesInterPodOfGroup is agrees for what nodes of a group share.
func passesInterPodOfGroup(r *round, n int, s *sight) bool {
	slot, found := len(r.in.spread.hard), true
	for _, t := range s.required {
		x := t.topo.domain[n]
		if x == noDomain {
			return false
		}
		found = found && r.buf.byDomain[slot][x] > 0
		slot++
	}
	if !found && (!r.bootstrap || !r.in.inter.matchesSelf) {
		return false
	}
	for _, t := range s.anti {
		if x := t.topo.domain[n]; x != noDomain && r.buf.byDomain[slot][x] > 0 {
			return false
		}
		slot++
	}
	return true
}

// barred are the nodes that are refused for the pods on themselves.
func (q *quick) barred() (out []cluster.NodeID) {
	for _, t := range q.sight.antiNode {
		for _, x := range t.pods.piles {
			if x.pods > 0 && t.topo.domain[x.node] != noDomain {
				out = append(out, x.node)
			}
		}
	}
	hard := q.in.spread.hard
	for i := range hard {
		c := &hard[i]
		if !c.topo.single {
			continue
		}
		for _, x := range c.pods.piles {
			if q.in.spread.hardNode[x.node] && c.eligible[x.node] && int64(x.pods)+c.self-q.buf.min[i] > c.maxSkew {
				out = append(out, x.node)
			}
		}
	}
	return out
}

// passes reports whether a node is feasible as things stand now.
func (q *quick) passes(n cluster.NodeID) bool {
	place := q.place[n]
	return q.allowed[q.sight.land.group[place]] && q.fitsAt(place) && !slices.Contains(q.barred(), n)
}
