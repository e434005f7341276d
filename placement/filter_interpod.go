package placement

// passesInterPod is the filter of required inter-pod affinity and anti-affinity, the
// newcomer's and that of the pods that stand.
func passesInterPod(r *round, n int) bool {
	slot := len(r.in.spread.hard)
	found := true
	for _, t := range r.in.inter.required {
		x := t.topo.domain[n]
		if x == noDomain {
			return false
		}
		found = found && r.buf.byDomain[slot][x] > 0
		slot++
	}
	// The first of a group that wants its own kind near may go anywhere.
	if !found && (!r.bootstrap || !r.in.inter.matchesSelf) {
		return false
	}
	for _, list := range [...][]placedTerm{r.in.inter.anti, r.in.inter.existingAnti} {
		for _, t := range list {
			if x := t.topo.domain[n]; x != noDomain && r.buf.byDomain[slot][x] > 0 {
				return false
			}
			slot++
		}
	}
	return true
}
