package sampling

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// Below minSampleNodes nodes the scheduler judges all of them, and it never stops
// before it has found so many feasible ones. Without a configured share of the
// nodes it looks at 50 %, less 1 % per 125 nodes, and at no less than 5 %
// (pkg/scheduler, numFeasibleNodesToFind).
const (
	minSampleNodes   = 100
	minSamplePercent = 5
	maxSamplePercent = 50
	nodesPerPercent  = 125
)

// Sampler predicts the winner where kube-scheduler scores only a sample of the feasible
// nodes. It reuses its slices for every prediction. A Sampler is not safe for
// concurrent use.
//
// A sample is a window: sampleSize feasible nodes that follow each other in the node
// order. The start index of the scheduler is unknown, so every start is equally likely.
// From one window to the next one node leaves and one enters, so a step usually costs
// O(1). In the worst case it costs O(score groups).
type Sampler struct {
	windowScorer
	previous       previousState
	oddsByFeasible []float64 // odds in the order of the feasible nodes
	randomOdds     []float64 // by level: odds of each of its nodes in a random sample
}

// PredictState returns the outcome over all samples, the scattered part mixed in.
func (s *Sampler) PredictState(r *cycle.Attempt, feasible []cluster.NodeID, size int, scattered float64) prediction.State {
	s.attempt = r
	if !s.sortByNodeOrder(feasible) || s.sampleSize != size {
		s.previous.replacement = nil
	}
	s.sampleSize = size
	switch {
	case r.Replacement.Profile.Policy != nil:
		s.previous.replacement = nil
		s.scorePolicySamples()
	default:
		s.readScores()
		if r.Model.Attachments.VictimNode == cluster.NoNode || !s.rescoreChangedWindows() {
			s.scoreEveryWindow()
		}
	}
	odds := s.window.odds
	s.oddsByFeasible = cycle.ResizeFloat64(s.oddsByFeasible, len(feasible))
	for k, n := range s.nodes {
		s.oddsByFeasible[s.feasibleNumber[n]-1] = odds[k]
	}
	most := s.window.maxTotal
	s.mixInRandomSamples(scattered)
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

// A legacy Policy counts over a sample what cannot be carried on to the next one
// cheaply. Its samples are scored one by one: as many as hold policyNodeBudget nodes
// together, at least minPolicySamples, evenly spread over the walk. That is all of
// them up to some 300 nodes.
const (
	policyNodeBudget = 50_000
	minPolicySamples = 100
)

// scorePolicySamples adds up the odds over some windows, each standing for those that
// begin after it and before the next.
func (s *Sampler) scorePolicySamples() {
	n, w := len(s.nodes), &s.window
	w.odds, w.maxTotal = cycle.ResizeFloat64(w.odds, n), 0
	starts := min(n, max(minPolicySamples, policyNodeBudget/s.sampleSize))
	around := append(s.nodes, s.nodes[:s.sampleSize]...)
	for i := range starts {
		from, to := i*n/starts, (i+1)*n/starts
		weight := 0.0
		for _, x := range s.startProbability[from:to] {
			weight += x
		}
		score.Score(s.attempt, around[from:from+s.sampleSize])
		total := s.attempt.Scratch.Total
		best, ties := slices.Max(total), 0
		for _, t := range total {
			if t == best {
				ties++
			}
		}
		for k, t := range total {
			if t == best {
				w.odds[(from+k)%n] += weight / float64(ties)
			}
		}
		w.maxTotal = max(w.maxTotal, best)
	}
}

// HasReusableWindows reports whether the next state of the same victim can take over
// windows of the last one.
func (s *Sampler) HasReusableWindows() bool { return s.previous.replacement != nil }

// Size returns how many feasible nodes the scheduler looks for among all
// nodes before it stops.
func Size(nodes, percentage int) int {
	if nodes < minSampleNodes {
		return nodes
	}
	if percentage == 0 {
		percentage = max(maxSamplePercent-nodes/nodesPerPercent, minSamplePercent)
	}
	return max(nodes*percentage/100, minSampleNodes)
}
