package placement

// topologySpread is the filter of the hard topology spread constraints.
func topologySpread(r *Attempt, n int) bool {
	for i := range r.Replacement.spread.hard {
		c := &r.Replacement.spread.hard[i]
		x := c.Topology.domain[n]
		if x == NoDomain {
			return false
		}
		if int64(r.Buf.byDomain[i][x])+c.SelfMatch-r.Buf.MinCount[i] > c.maxSkew {
			return false
		}
	}
	return true
}
