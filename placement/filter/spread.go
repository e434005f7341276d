package filter

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// topologySpread is the filter of the hard topology spread constraints.
func topologySpread(r *cycle.Attempt, n int) bool {
	for i := range r.Replacement.Spread.Hard {
		c := &r.Replacement.Spread.Hard[i]
		x := c.Topology.Domain[n]
		if x == model.NoDomain {
			return false
		}
		if int64(r.Buf.ByDomain[i][x])+c.SelfMatch-r.Buf.MinCount[i] > c.MaxSkew {
			return false
		}
	}
	return true
}
