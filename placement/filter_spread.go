package placement

// passesSpread is the filter of the hard topology spread constraints.
func passesSpread(r *round, n int) bool {
	for i := range r.in.spread.hard {
		c := &r.in.spread.hard[i]
		x := c.topo.domain[n]
		if x == noDomain {
			return false
		}
		if int64(r.buf.byDomain[i][x])+c.self-r.buf.min[i] > c.maxSkew {
			return false
		}
	}
	return true
}
