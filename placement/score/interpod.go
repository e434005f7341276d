package score

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// scoreInterPod scales the weight sums of matching terms from the range of all feasible nodes to 0..MaxScore.
func scoreInterPod(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) {
	clear(out)
	if !SumTermWeights(r, feasible, out) || len(out) == 0 {
		return
	}
	least, most := out[0], out[0]
	for _, v := range out {
		least, most = min(least, v), max(most, v)
	}
	for i, v := range out {
		out[i] = ScaleToRange(v, least, most, scheduler.MaxScore)
	}
}

// SumTermWeights adds up the weights of the matching terms for each node, and reports whether any
// term matches a pod.
func SumTermWeights(r *cycle.Attempt, feasible []cluster.NodeID, out []int64) (any bool) {
	for _, t := range r.Replacement.InterPod.Scored {
		if t.Pods.Total == 0 {
			continue
		}
		any = true
		d := r.Scratch.CountTerm(r.FilterSlots, t)
		for i, n := range feasible {
			if x := t.Topology.Domain[n]; x != model.NoDomain {
				out[i] += t.Weight * int64(d[x])
			}
		}
	}
	return any
}

// ScaleToRange scales v from the range least..most to 0..top. The result is 0 if least equals most.
func ScaleToRange(v, least, most, top int64) int64 {
	if most <= least {
		return 0
	}
	return int64(float64(top) * (float64(v-least) / float64(most-least)))
}
