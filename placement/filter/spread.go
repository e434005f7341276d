package filter

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// passesTopologySpread checks the hard topology spread constraints.
func passesTopologySpread(r *cycle.Attempt, n int) bool {
	for i := range r.Replacement.Spread.Hard {
		c := &r.Replacement.Spread.Hard[i]
		x := c.Topology.Domain[n]
		if x == model.NoDomain {
			return false
		}
		if int64(r.Scratch.CountsByDomain[i][x])+c.SelfMatch-r.Scratch.MinSpreadCounts[i] > c.MaxSkew {
			return false
		}
	}
	return true
}
