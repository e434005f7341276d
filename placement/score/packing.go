package score

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
)

// scorePacking scores nodes by expected cpu utilization. As in the plugin, a node without a
// measurement gets 0.
func scorePacking(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
	for i, n := range feasible {
		x := &r.Model.Packing.Nodes[n]
		if out[i] = 0; !x.Measured {
			continue
		}
		milliCPU := x.UsedMilliCPU + x.UnmeasuredMilliCPU + r.Replacement.Class.ExpectedMilliCPU
		out[i] = packingScore(100*float64(milliCPU)/float64(x.CapacityMilliCPU), float64(r.Replacement.Profile.Packing.Target))
	}
}

// packingScore returns the score at p percent utilization with a target of t. The score rises from
// t at 0 % to 100 at t %, then falls from t to 0 at 100 %. Above 100 %, the score is 0.
func packingScore(p, t float64) int64 {
	switch {
	case p > 100:
		return 0
	case p > t:
		return int64(math.Round(t * (100 - p) / (100 - t)))
	}
	return int64(math.Round((100-t)*p/t + t))
}
