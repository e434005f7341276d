package goal

import (
	"math/bits"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// nodeSets caches sets of nodes that moves do not change, as bit sets by the positions of a prediction.NodeSet.
type nodeSets struct {
	ready   map[*bool][]uint64    // by the first mark
	domains map[*int32][][]uint64 // by the domain of the first node: by domain plus one
	buffer  []uint64
}

const (
	maxDomainSets = 64      // domains with a set each
	maxRoomSets   = 2048    // amounts with a set each
	maxChanges    = 1 << 16 // of a Headroom before it forgets its sets
)

func newNodeSet(position []int32, has func(n int) bool) []uint64 {
	set := make([]uint64, (len(position)+63)/64)
	for n, at := range position {
		if has(n) {
			set[at>>6] |= 1 << (at & 63)
		}
	}
	return set
}

func (s *nodeSets) ofReady(ready []bool, position []int32) []uint64 {
	set, known := s.ready[&ready[0]]
	if !known {
		set = newNodeSet(position, func(n int) bool { return ready[n] })
		s.ready[&ready[0]] = set
	}
	return set
}

// ofDomains returns the nodes of each domain, after those of no domain.
func (s *nodeSets) ofDomains(domainByNode []int32, count int, position []int32) [][]uint64 {
	sets, known := s.domains[&domainByNode[0]]
	if !known {
		for d := range int32(count) {
			sets = append(sets, newNodeSet(position, func(n int) bool { return domainByNode[n]+1 == d }))
		}
		s.domains[&domainByNode[0]] = sets
	}
	return sets
}

// roomSet is the set of the nodes that have room for an amount, after so many changes of a Headroom.
type roomSet struct {
	nodes   []uint64
	changes int
}

// withRoom returns the nodes that have room for the amount.
func (h *Headroom) withRoom(amount int64, position []int32) []uint64 {
	x, known := h.sets[amount]
	if !known || len(h.changed)-x.changes > len(position)/4 {
		x = &roomSet{newNodeSet(position, func(n int) bool { return h.ByNode[n] >= amount }), len(h.changed)}
		if h.sets == nil || len(h.sets) == maxRoomSets {
			h.sets = map[int64]*roomSet{}
		}
		h.sets[amount] = x
	}
	for _, n := range h.changed[x.changes:] {
		at := position[n]
		if x.nodes[at>>6] &^= 1 << (at & 63); h.ByNode[n] >= amount {
			x.nodes[at>>6] |= 1 << (at & 63)
		}
	}
	x.changes = len(h.changed)
	return x.nodes
}

// recordChanges records the nodes whose room has changed.
func (h *Headroom) recordChanges(nodes ...cluster.NodeID) {
	for _, n := range nodes {
		if n != cluster.NoNode && h.sets != nil {
			h.changed = append(h.changed, n)
		}
	}
	if len(h.changed) > maxChanges {
		h.sets, h.changed = nil, nil
	}
}

// Count returns the number of ready nodes in the set for which Acceptable is true.
func (a *TargetCheck) Count(nodes *prediction.NodeSet, ready []bool) (count int) {
	switch {
	case nodes.Count == 0 || !a.returnHelps && (a.LeavingHarms || !a.leavingImproves && len(a.groups)+len(a.limitedAmounts) == 0):
		return 0
	case !a.hasSets():
		for n := range nodes.InOrder() {
			if ready[n] && a.Acceptable(n) {
				count++
			}
		}
		return count
	}
	left := append(a.sets.buffer[:0], nodes.Bits...)
	a.sets.buffer = left
	for i, word := range a.sets.ofReady(ready, nodes.Position) {
		left[i] &= word
	}
	for _, x := range a.needs {
		for i, word := range x.of.withRoom(x.amount, nodes.Position) {
			left[i] &= word
		}
	}
	for _, g := range a.groups {
		sets := a.sets.ofDomains(g.domainByNode, len(g.effects), nodes.Position)
		for d, e := range g.effects {
			if e&harmless != 0 && (e&helpful != 0 || a.leavingImproves) {
				continue
			}
			for i, word := range sets[d] {
				left[i] &^= word
			}
		}
	}
	for _, word := range left {
		count += bits.OnesCount64(word)
	}
	if at := nodes.Position[max(a.From, 0)]; a.From != cluster.NoNode && left[at>>6]>>(at&63)&1 != 0 {
		count-- // returnHelps is false
	}
	return count
}

// hasSets reports whether sets of nodes decide which are acceptable.
func (a *TargetCheck) hasSets() bool {
	for i := range a.needs {
		if a.needs[i].of == nil {
			return false
		}
	}
	for i := range a.groups {
		if g := &a.groups[i]; i > 0 || g.domainByNode == nil || g.notCounted != nil || len(g.effects) > maxDomainSets {
			return false
		}
	}
	return !a.returnHelps && (a.leavingImproves || len(a.limitedAmounts) == 0)
}
