package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// scoreInterPod stretches the sums of the weights of matching terms, between the
// least and the most among the feasible nodes, to 0..100.
func scoreInterPod(r *Attempt, feasible []cluster.NodeID, out []int64) {
	interPodScores(r, feasible, out, maxScore)
}

func interPodScores(r *Attempt, feasible []cluster.NodeID, out []int64, top int64) {
	clear(out)
	if !SumInterPod(r, feasible, out) || len(out) == 0 {
		return
	}
	least, most := out[0], out[0]
	for _, v := range out {
		least, most = min(least, v), max(most, v)
	}
	for i, v := range out {
		out[i] = Scale(v, least, most, top)
	}
}

// SumInterPod adds the weights of the terms that match, by the nodes' domains. It
// reports whether any term has pods.
func SumInterPod(r *Attempt, feasible []cluster.NodeID, out []int64) (any bool) {
	for _, t := range r.Replacement.InterPod.scored {
		if t.pods.Total == 0 {
			continue
		}
		any = true
		d := r.Buf.sumDomains(r.slots, t)
		for i, n := range feasible {
			if x := t.Topology.domain[n]; x != NoDomain {
				out[i] += t.weight * int64(d[x])
			}
		}
	}
	return any
}

// Scale maps least..most to 0..top, and all to 0 where they are the same.
func Scale(v, least, most, top int64) int64 {
	if most <= least {
		return 0
	}
	return int64(float64(top) * (float64(v-least) / float64(most-least)))
}
