package sampling

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// These constants define the sample size of kube-scheduler (pkg/scheduler, numFeasibleNodesToFind).
// A sample has at least minSampleNodes feasible nodes. If no percentage is configured, the
// scheduler uses 50 % of the nodes, minus 1 % per 125 nodes, but at least 5 %.
const (
	minSampleNodes   = 100
	minSamplePercent = 5
	maxSamplePercent = 50
	nodesPerPercent  = 125
)

// Sampler predicts the winner if kube-scheduler scores only a sample of the feasible nodes. A
// Sampler reuses its slices and is not safe for concurrent use.
//
// A sample is a window: sampleSize feasible nodes that follow each other in the node order. The
// start index of the scheduler is unknown, so every start is equally likely. From one window to the
// next, one node leaves and one node enters. Such a step usually costs O(1), in the worst case
// O(score groups).
type Sampler struct {
	windowScorer
	previous       previousWindows
	oddsByFeasible []float64 // odds in the order of the feasible nodes
	randomOdds     []float64 // by level: odds of each of its nodes in a random sample
}

// PredictState returns the odds over all samples. A sample is random with the probability
// randomWeight. The list feasible must be sorted.
func (s *Sampler) PredictState(r *cycle.Attempt, feasible []cluster.NodeID, size int, randomWeight float64) prediction.State {
	s.attempt = r
	if !s.sortByNodeOrder(feasible) || s.sampleSize != size {
		s.previous.replacement = nil
	}
	s.sampleSize = size
	s.readScores()
	if r.Model.Attachments.VictimNode == cluster.NoNode || !s.rescoreChangedWindows() {
		s.scoreEveryWindow()
	}
	odds := s.window.odds
	s.oddsByFeasible = cycle.ResizeZeroed(s.oddsByFeasible, len(feasible))
	for k, n := range s.nodes {
		s.oddsByFeasible[s.feasibleNumber[n]-1] = odds[k]
	}
	most := s.window.maxTotal
	s.mixInRandomSamples(randomWeight)
	out, count := prediction.State{FeasibleSet: prediction.NewNodeSet(r.Model, feasible), SampleSize: size, Best: most}, 0
	for _, p := range s.oddsByFeasible {
		if p > 0 {
			count++
		}
	}
	out.Winners, out.Odds = make([]cluster.NodeID, 0, count), make([]float64, 0, count)
	for i, p := range s.oddsByFeasible {
		if p > 0 {
			out.Winners, out.Odds = append(out.Winners, feasible[i]), append(out.Odds, p)
		}
	}
	return out
}

// HasReusableWindows reports whether the next state of the same victim can reuse windows of the
// last state.
func (s *Sampler) HasReusableWindows() bool { return s.previous.replacement != nil }

// SampleSize returns how many feasible nodes the scheduler looks for in a cluster of that many
// nodes before it stops. percentage is percentageOfNodesToScore; 0 for the adaptive default.
func SampleSize(nodes, percentage int) int {
	if nodes < minSampleNodes {
		return nodes
	}
	if percentage == 0 {
		percentage = max(maxSamplePercent-nodes/nodesPerPercent, minSamplePercent)
	}
	return max(nodes*percentage/100, minSampleNodes)
}
