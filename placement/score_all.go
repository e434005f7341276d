package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// Score fills the scratch's normalised scores and totals of the feasible nodes.
func Score(r *Attempt, feasible []cluster.NodeID) {
	b, scorers := r.Buf, r.Replacement.scorers
	for len(b.scores) < len(scorers) {
		b.scores = append(b.scores, nil)
	}
	b.total = ResizeInt64(b.total, len(feasible))
	clear(b.total)
	for k := range scorers {
		out := ResizeInt64(b.scores[k], len(feasible))
		b.scores[k] = out
		if idle := scorers[k].idle; idle != nil && idle(r.Replacement) {
			clear(out)
			continue
		}
		scorers[k].score(r, feasible, out)
		weight, total := scorers[k].weight, b.total[:len(out)]
		for i, s := range out {
			total[i] += weight * s
		}
	}
}

// Pick takes the feasible nodes' values.
func Pick[T int8 | int64](out []int64, feasible []cluster.NodeID, byNode []T) {
	for i, n := range feasible {
		out[i] = int64(byNode[n])
	}
}

// normalise stretches counts to 0..top of the largest; with reverse the least
// count is best and all zero means all top (helper.DefaultNormalizeScore).
func normalise(s []int64, top int64, reverse bool) {
	var most int64
	for _, v := range s {
		most = max(most, v)
	}
	last, scaled := int64(-1), int64(0)
	for i, v := range s {
		if v != last { // most nodes are like the one before: division is what costs
			last, scaled = v, v
			if most > 0 {
				scaled = top * v / most
			}
			if reverse {
				scaled = top - scaled
			}
		}
		s[i] = scaled
	}
}
