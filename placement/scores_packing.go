package placement

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// scorePacking scores by predicted cpu utilization. A node without a measurement
// scores 0, as the plugin has it.
func scorePacking(r *Attempt, feasible []cluster.NodeID, out []int64) {
	for i, n := range feasible {
		x := &r.Model.Packing.nodes[n]
		if out[i] = 0; !x.measured {
			continue
		}
		milliCPU := x.usedMilliCPU + x.unsettledMilliCPU + r.Replacement.class.ExpectedMilliCPU
		out[i] = packed(100*float64(milliCPU)/float64(x.capacityMilliCPU), float64(r.Replacement.profile.Packing.Target))
	}
}

// packed is the score at p percent with a target of t: it rises from t at 0 to
// 100 at t, falls from t to 0 at 100, and is 0 beyond.
func packed(p, t float64) int64 {
	switch {
	case p > 100:
		return 0
	case p > t:
		return int64(math.Round(t * (100 - p) / (100 - t)))
	}
	return int64(math.Round((100-t)*p/t + t))
}
