package score

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// packing scores a node by its expected cpu utilization. As in the plugin, a node without a
// measurement gets 0.
func packing(w *model.Cluster, in *cycle.Replacement, n cluster.NodeID) int64 {
	x := &w.Packing.Nodes[n]
	if !x.Measured {
		return 0
	}
	milliCPU := x.UsedMilliCPU + x.UnmeasuredMilliCPU + in.Class.ExpectedMilliCPU
	return packingScore(100*float64(milliCPU)/float64(x.CapacityMilliCPU), float64(in.Profile.Packing.Target))
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
