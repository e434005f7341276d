package filter

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// passesInterPodAffinity checks the required inter-pod affinity and anti-affinity of the
// replacement, and the anti-affinity of the pods on nodes.
func passesInterPodAffinity(r *cycle.Attempt, n int) bool {
	slot := len(r.Replacement.Spread.Hard)
	found := true
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
	for _, list := range [...][]cycle.TermWithTopology{r.Replacement.InterPod.Anti, r.Replacement.InterPod.ExistingAnti} {
		for _, t := range list {
			if x := t.Topology.Domain[n]; x != model.NoDomain && r.Scratch.CountsByDomain[slot][x] > 0 {
				return false
			}
			slot++
		}
	}
	return true
}
