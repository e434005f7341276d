package score

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// Score writes the normalised scores and the total scores of the feasible nodes to the scratch.
func Score(r *cycle.Attempt, feasible []cluster.NodeID) {
	b, scorers := r.Scratch, r.Replacement.Scorers
	for len(b.Scores) < len(scorers) {
		b.Scores = append(b.Scores, nil)
	}
	b.Total = cycle.ResizeZeroed(b.Total, len(feasible))
	for k := range scorers {
		out := cycle.ResizeSlice(b.Scores[k], len(feasible))
		b.Scores[k] = out
		switch s := &scorers[k]; {
		case s.AlwaysZero(r.Replacement):
			clear(out)
			continue
		case s.NodeScores != nil:
			CopyByNode(out, feasible, s.NodeScores(r.Replacement))
		default:
			s.Score(r, feasible, out)
		}
		weight, total := scorers[k].Weight, b.Total[:len(out)]
		for i, s := range out {
			total[i] += weight * s
		}
	}
}

// CopyByNode copies the values of the feasible nodes from a list by node.
func CopyByNode[T int8 | int64](out []int64, feasible []cluster.NodeID, byNode []T) {
	for i, n := range feasible {
		out[i] = int64(byNode[n])
	}
}

// normalise scales counts to 0..MaxScore of the largest count. If reverse is true, the smallest count gets the best
// score; if all counts are 0, every node gets MaxScore (helper.DefaultNormalizeScore).
func normalise(s []int64, reverse bool) {
	var most int64
	for _, v := range s {
		most = max(most, v)
	}
	last, scaled := int64(-1), int64(0)
	for i, v := range s {
		if v != last { // neighbours are usually equal, so this saves divisions
			last, scaled = v, v
			if most > 0 {
				scaled = scheduler.MaxScore * v / most
			}
			if reverse {
				scaled = scheduler.MaxScore - scaled
			}
		}
		s[i] = scaled
	}
}
