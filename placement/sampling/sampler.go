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

// Sampler judges every sample that the scheduler may take. A sample is a window
// of `size` feasible nodes that follow each other on the walk around the nodes;
// where the walk begins is not known, so every node is as likely a start. Its
// slices are used again for every prediction.
type Sampler struct {
	attempt          *cycle.Attempt
	sampleSize       int
	lastFeasible     []cluster.NodeID // the feasible nodes that are in line
	feasibleNumber   []int32          // by node, its number among the feasible ones and one; 0: not feasible
	nodes            []cluster.NodeID // feasible, in the order of the walk
	startProbability []float64        // probability of the window that begins with each; sums to 1
	oddsByFeasible   []float64        // odds in the order of the feasible nodes
	randomOdds       []float64        // by level, odds of each of its nodes over every set of nodes

	groups   scoreGroups
	window   slidingWindow
	previous previousState
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

// sortByNodeOrder puts the feasible nodes in the order of the walk. A window begins with a
// node when the walk begins there, or at a node before it that is not feasible.
// It reports whether they stood in line already.
func (s *Sampler) sortByNodeOrder(feasible []cluster.NodeID) bool {
	w := s.attempt.Model
	if w.InitNodeOrder(); s.feasibleNumber == nil {
		s.feasibleNumber = make([]int32, len(w.NodeOrder))
	}
	if slices.Equal(s.lastFeasible, feasible) {
		return true
	}
	s.lastFeasible = append(s.lastFeasible[:0], feasible...)
	clear(s.feasibleNumber)
	for i, n := range feasible {
		s.feasibleNumber[n] = int32(i) + 1
	}
	s.nodes, s.startProbability = s.nodes[:0], s.startProbability[:0]
	all := float64(len(w.NodeOrder))
	starts, one := 0, 1/all
	for _, n := range w.NodeOrder {
		starts++
		if s.feasibleNumber[n] == 0 {
			continue
		}
		weight := one // nearly always: dividing is what costs
		if starts > 1 {
			weight = float64(starts) / all
		}
		s.nodes, s.startProbability = append(s.nodes, n), append(s.startProbability, weight)
		starts = 0
	}
	s.startProbability[0] += float64(starts) / all
	return false
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
