package fast

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// allowGroups finds the groups that the filters which count pods by domain let the
// newcomer onto, and reports whether they are others than before.
func (q *Predictor) allowGroups() (changed bool) {
	r := q.countSharedDomains()
	if len(q.groupAllowed) != maxGroups+6 {
		q.groupAllowed = make([]bool, maxGroups+6) // the last is nowhere
	}
	for g, n := range q.view.groups.nodes {
		ok := passesSpreadOfGroup(&r, int(n)) && passesInterPodOfGroup(&r, int(n), q.view)
		changed = changed || q.groupAllowed[g] != ok
		q.groupAllowed[g] = ok
	}
	return changed
}

// countSharedDomains counts by domain what filters read, for domains of several nodes.
func (q *Predictor) countSharedDomains() cycle.Attempt {
	in, s, b, slot := q.replacement, q.view, q.scratch, 0
	b.MinSpreadCounts = b.MinSpreadCounts[:0]
	for i := range in.Spread.Hard {
		c, least := &in.Spread.Hard[i], int64(0)
		if c.Topology.OneNodePerDomain {
			least = minPodsPerNode(c, in.Spread.HardKeyNodes)
		} else {
			least = b.CountHardSpread(slot, c, in.Spread.HardKeyNodes)
		}
		b.MinSpreadCounts = append(b.MinSpreadCounts, least)
		slot++
	}
	r := cycle.Attempt{Model: q.model, Scratch: b, Replacement: in, NoPodMatches: true}
	for _, t := range s.required {
		for _, k := range b.CountTerm(slot, t) {
			r.NoPodMatches = r.NoPodMatches && k <= 0
		}
		slot++
	}
	for _, t := range s.anti {
		b.CountTerm(slot, t)
		slot++
	}
	r.FilterSlots = slot
	return r
}

// minPodsPerNode is the least count of a hard constraint whose domains are nodes.
func minPodsPerNode(c *cycle.SpreadConstraint, hasKeys []bool) int64 {
	if len(c.Domains) < c.MinDomains {
		return 0
	}
	least, counted := int64(math.MaxInt32), 0
	for _, x := range c.Pods.Nodes {
		if hasKeys[x.Node] && c.CountedNodes[x.Node] {
			least = min(least, int64(x.Pods))
			counted++
		}
	}
	if counted < len(c.Domains) {
		return 0
	}
	return least
}

// passesSpreadOfGroup is spreads for what nodes of a group share.
func passesSpreadOfGroup(r *cycle.Attempt, n int) bool {
	for i := range r.Replacement.Spread.Hard {
		c := &r.Replacement.Spread.Hard[i]
		x := c.Topology.Domain[n]
		if x == model.NoDomain || !c.Topology.OneNodePerDomain && int64(r.Scratch.CountsByDomain[i][x])+c.SelfMatch-r.Scratch.MinSpreadCounts[i] > c.MaxSkew {
			return false
		}
	}
	return true
}

// passesInterPodOfGroup is agrees for what nodes of a group share.
func passesInterPodOfGroup(r *cycle.Attempt, n int, s *classView) bool {
	slot, found := len(r.Replacement.Spread.Hard), true
	for _, t := range s.required {
		x := t.Topology.Domain[n]
		if x == model.NoDomain {
			return false
		}
		found = found && r.Scratch.CountsByDomain[slot][x] > 0
		slot++
	}
	if !found && (!r.NoPodMatches || !r.Replacement.InterPod.MatchesSelf) {
		return false
	}
	for _, t := range s.anti {
		if x := t.Topology.Domain[n]; x != model.NoDomain && r.Scratch.CountsByDomain[slot][x] > 0 {
			return false
		}
		slot++
	}
	return true
}

// nodesExcludedByPods are the nodes that are refused for the pods on themselves.
func (q *Predictor) nodesExcludedByPods() (out []cluster.NodeID) {
	for _, t := range q.view.antiByNode {
		for _, x := range t.Pods.Nodes {
			if x.Pods > 0 && t.Topology.Domain[x.Node] != model.NoDomain {
				out = append(out, x.Node)
			}
		}
	}
	hard := q.replacement.Spread.Hard
	for i := range hard {
		c := &hard[i]
		if !c.Topology.OneNodePerDomain {
			continue
		}
		for _, x := range c.Pods.Nodes {
			if q.replacement.Spread.HardKeyNodes[x.Node] && c.CountedNodes[x.Node] && int64(x.Pods)+c.SelfMatch-q.scratch.MinSpreadCounts[i] > c.MaxSkew {
				out = append(out, x.Node)
			}
		}
	}
	return out
}

// isFeasible reports whether a node is feasible as things stand now.
func (q *Predictor) isFeasible(n cluster.NodeID) bool {
	place := q.position[n]
	return q.groupAllowed[q.view.groups.group[place]] && q.fitsAtPosition(place) && !slices.Contains(q.nodesExcludedByPods(), n)
}
