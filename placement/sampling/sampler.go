package sampling

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// Below minSampled nodes the scheduler judges all of them, and it never stops
// before it has found so many feasible ones. Without a configured share of the
// nodes it looks at 50 %, less 1 % per 125 nodes, and at no less than 5 %
// (pkg/scheduler, numFeasibleNodesToFind).
const (
	minSampled     = 100
	minSamplePart  = 5
	fullSamplePart = 50
	nodesPerPart   = 125
)

// Sampler judges every sample that the scheduler may take. A sample is a window
// of `size` feasible nodes that follow each other on the walk around the nodes;
// where the walk begins is not known, so every node is as likely a start. Its
// slices are used again for every prediction.
type Sampler struct {
	r      *cycle.Attempt
	size   int
	lined  []cluster.NodeID // the feasible nodes that are in line
	place  []int32          // by node, its number among the feasible ones and one; 0: not feasible
	nodes  []cluster.NodeID // feasible, in the order of the walk
	weight []float64        // probability of the window that begins with each; sums to 1
	byNode []float64        // odds in the order of the feasible nodes
	share  []float64        // by level, odds of each of its nodes over every set of nodes

	kinds  kinds
	window window
	shared shared
}

// Sample returns the outcome over all samples, the scattered part mixed in.
func (s *Sampler) Sample(r *cycle.Attempt, feasible []cluster.NodeID, size int, scattered float64) prediction.State {
	s.r = r
	if !s.line(feasible) || s.size != size {
		s.shared.in = nil
	}
	s.size = size
	switch {
	case r.Replacement.Profile.Policy != nil:
		s.shared.in = nil
		s.someStarts()
	default:
		s.read()
		if r.Model.Attachments.VictimNode == cluster.NoNode || !s.fewStarts() {
			s.everyStart()
		}
	}
	odds := s.window.odds
	s.byNode = cycle.ResizeFloat64(s.byNode, len(feasible))
	for k, n := range s.nodes {
		s.byNode[s.place[n]-1] = odds[k]
	}
	most := s.window.most
	s.scatter(scattered)
	out, count := prediction.State{FeasibleSet: prediction.NewNodeSet(r.Model, feasible), SampleSize: size, Best: most}, 0
	for _, p := range s.byNode {
		if p > 0 {
			count++
		}
	}
	out.Winners, out.Odds = make([]cluster.NodeID, 0, count), make([]float64, 0, count)
	for i, p := range s.byNode {
		if p > 0 {
			out.Winners, out.Odds = append(out.Winners, feasible[i]), append(out.Odds, p)
		}
	}
	return out
}

// line puts the feasible nodes in the order of the walk. A window begins with a
// node when the walk begins there, or at a node before it that is not feasible.
// It reports whether they stood in line already.
func (s *Sampler) line(feasible []cluster.NodeID) bool {
	w := s.r.Model
	if w.InitNodeOrder(); s.place == nil {
		s.place = make([]int32, len(w.NodeOrder))
	}
	if slices.Equal(s.lined, feasible) {
		return true
	}
	s.lined = append(s.lined[:0], feasible...)
	clear(s.place)
	for i, n := range feasible {
		s.place[n] = int32(i) + 1
	}
	s.nodes, s.weight = s.nodes[:0], s.weight[:0]
	all := float64(len(w.NodeOrder))
	starts, one := 0, 1/all
	for _, n := range w.NodeOrder {
		starts++
		if s.place[n] == 0 {
			continue
		}
		weight := one // nearly always: dividing is what costs
		if starts > 1 {
			weight = float64(starts) / all
		}
		s.nodes, s.weight = append(s.nodes, n), append(s.weight, weight)
		starts = 0
	}
	s.weight[0] += float64(starts) / all
	return false
}

// A legacy Policy counts over a sample what cannot be carried on to the next one
// cheaply. Its samples are scored one by one: as many as hold scoredNodes nodes
// together, at least leastStarts, evenly spread over the walk. That is all of
// them up to some 300 nodes.
const (
	scoredNodes = 50_000
	leastStarts = 100
)

// someStarts adds up the odds over some windows, each standing for those that
// begin after it and before the next.
func (s *Sampler) someStarts() {
	n, w := len(s.nodes), &s.window
	w.odds, w.most = cycle.ResizeFloat64(w.odds, n), 0
	starts := min(n, max(leastStarts, scoredNodes/s.size))
	around := append(s.nodes, s.nodes[:s.size]...)
	for i := range starts {
		from, to := i*n/starts, (i+1)*n/starts
		weight := 0.0
		for _, x := range s.weight[from:to] {
			weight += x
		}
		score.Score(s.r, around[from:from+s.size])
		total := s.r.Scratch.Total
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
		w.most = max(w.most, best)
	}
}

// KeepsWindows reports whether the next state of the same victim can take over
// windows of the last one.
func (s *Sampler) KeepsWindows() bool { return s.shared.in != nil }
