package filter

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// PassesInterPodAffinity is the filter InterPodAffinity. It checks the required affinity of the replacement, and the
// anti-affinity terms that Attempt.CountTerms has counted.
func PassesInterPodAffinity(r *cycle.Attempt, n int, anti ...[]cycle.TermWithTopology) bool {
	slot, found := len(r.Replacement.Spread.Hard), true
	for _, t := range r.Replacement.InterPod.Required {
		x := t.Topology.Domain[n]
		if x == model.NoDomain {
			return false
		}
		found = found && r.Scratch.CountsByDomain[slot][x] > 0
		slot++
	}
	// If a pod matches its own affinity and no other pod does, it may run anywhere.
	if !found && (!r.NoPodMatches || !r.Replacement.InterPod.MatchesSelf) {
		return false
	}
	for _, list := range anti {
		for _, t := range list {
			if x := t.Topology.Domain[n]; x != model.NoDomain && r.Scratch.CountsByDomain[slot][x] > 0 {
				return false
			}
			slot++
		}
	}
	return true
}

// PassesTopologySpread is the filter PodTopologySpread. If single is false, it does not compare the pods of domains
// that are single nodes.
func PassesTopologySpread(r *cycle.Attempt, n int, single bool) bool {
	for i := range r.Replacement.Spread.Hard {
		c := &r.Replacement.Spread.Hard[i]
		x := c.Topology.Domain[n]
		if x == model.NoDomain || (single || !c.Topology.OneNodePerDomain) &&
			int64(r.Scratch.CountsByDomain[i][x])+c.SelfMatch-r.Scratch.MinSpreadCounts[i] > c.MaxSkew {
			return false
		}
	}
	return true
}
