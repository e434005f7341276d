package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// scoreAll fills the scratch's normalised scores and totals of the feasible nodes.
func scoreAll(r *round, feasible []cluster.NodeID) {
	b, scorers := r.buf, r.in.scorers
	for len(b.scores) < len(scorers) {
		b.scores = append(b.scores, nil)
	}
	b.total = resized(b.total, len(feasible))
	clear(b.total)
	for k := range scorers {
		out := resized(b.scores[k], len(feasible))
		b.scores[k] = out
		if idle := scorers[k].idle; idle != nil && idle(r.in) {
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

// pick takes the feasible nodes' values.
func pick[T int8 | int64](out []int64, feasible []cluster.NodeID, byNode []T) {
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
