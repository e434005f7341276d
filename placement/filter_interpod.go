package placement

// interPodAffinity is the filter of required inter-pod affinity and anti-affinity, the
// newcomer's and that of the pods that stand.
func interPodAffinity(r *Attempt, n int) bool {
	slot := len(r.Replacement.spread.hard)
	found := true
	for _, t := range r.Replacement.InterPod.required {
		x := t.Topology.domain[n]
		if x == NoDomain {
			return false
		}
		found = found && r.Buf.byDomain[slot][x] > 0
		slot++
	}
	// The first of a group that wants its own kind near may go anywhere.
	if !found && (!r.NoPodMatches || !r.Replacement.InterPod.matchesSelf) {
		return false
	}
	for _, list := range [...][]TermWithTopology{r.Replacement.InterPod.anti, r.Replacement.InterPod.existingAnti} {
		for _, t := range list {
			if x := t.Topology.domain[n]; x != NoDomain && r.Buf.byDomain[slot][x] > 0 {
				return false
			}
			slot++
		}
	}
	return true
}
