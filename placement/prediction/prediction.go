package prediction

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Possible returns the nodes on which the replacement may land, sorted.
func (p Prediction) Possible() (out []cluster.NodeID) {
	if p.WeightGone < 1 {
		out = append(out, p.Terminating.Winners...)
	}
	if p.WeightGone > 0 {
		out = append(out, p.Gone.Winners...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Prediction says where the replacement of a pod would land.
type Prediction struct {
	// Terminating is the state in which the victim still holds its resources, and inter-pod
	// affinity counts the victim. Topology spread no longer counts the victim.
	Terminating State
	// Gone is the state in which the victim no longer exists.
	Gone State
	// WeightGone is the probability of Gone, 0..1; Terminating has the remainder.
	WeightGone float64
	// UnsupportedReason says why the placement cannot be predicted; empty if it can. With an
	// UnsupportedReason, both states are empty and every probability is 0, including Pending.
	UnsupportedReason string
}

// Prob returns the probability that the replacement lands on a node that `on` accepts. The function nil accepts all.
func (p Prediction) Prob(on func(cluster.NodeID) bool) float64 {
	return (1-p.WeightGone)*p.Terminating.prob(on) + p.WeightGone*p.Gone.prob(on)
}

// MostProb returns the probability that the replacement lands on a node that `on` accepts, in the
// state of the victim in which it is greater. A replacement that no node takes while the victim
// terminates is tried again once it is gone.
func (p Prediction) MostProb(on func(cluster.NodeID) bool) (most float64) {
	if p.WeightGone < 1 {
		most = p.Terminating.prob(on)
	}
	return max(most, p.Gone.prob(on))
}

// ProbOf returns the probability that the replacement lands on this node.
func (p Prediction) ProbOf(n cluster.NodeID) float64 {
	return (1-p.WeightGone)*p.Terminating.probOf(n) + p.WeightGone*p.Gone.probOf(n)
}

// Pending returns the probability that no node is feasible; 0 if the pod is unsupported.
func (p Prediction) Pending() float64 {
	if p.UnsupportedReason != "" {
		return 0
	}
	sum := 0.0
	if len(p.Terminating.Winners) == 0 {
		sum += 1 - p.WeightGone
	}
	if len(p.Gone.Winners) == 0 {
		sum += p.WeightGone
	}
	return sum
}

// LikeliestOf returns the node with the highest probability among the nodes that `on` accepts. Ties
// go to the lowest NodeID. The result is NoNode if no such node is possible. The function nil accepts all.
func (p Prediction) LikeliestOf(on func(cluster.NodeID) bool) cluster.NodeID {
	best, bestProb := cluster.NoNode, 0.0
	a, b := p.Terminating.Winners, p.Gone.Winners
	for i, j := 0, 0; i < len(a) || j < len(b); {
		prob, n := 0.0, cluster.NoNode
		if j == len(b) || i < len(a) && a[i] <= b[j] {
			n, prob = a[i], (1-p.WeightGone)*p.Terminating.WinnerProb(i)
			i++
		} else {
			n = b[j]
		}
		if j < len(b) && b[j] == n {
			prob += p.WeightGone * p.Gone.WinnerProb(j)
			j++
		}
		if prob > bestProb && (on == nil || on(n)) {
			best, bestProb = n, prob
		}
	}
	return best
}

// State is the scheduler's decision in one state of the victim.
type State struct {
	// Feasible are the nodes that pass every filter, sorted. PredictOdds leaves it nil.
	Feasible []cluster.NodeID
	// FeasibleSet contains the nodes that pass every filter. Only PredictOdds sets FeasibleSet.
	FeasibleSet NodeSet
	// Winners are the nodes that the scheduler may choose, sorted: those with the best total score.
	// If the scheduler scores a sample, Winners has the winners of every possible sample.
	Winners []cluster.NodeID
	// Odds are the probabilities of the winners and sum to 1. If Odds is nil, all winners have the
	// same probability. This holds whenever the scheduler scores every feasible node.
	Odds []float64
	// SampleSize is how many feasible nodes the scheduler scores; 0: all.
	SampleSize int
	// Best is the best total score in any sample; 0 if no node is feasible.
	Best int64
}

// WinnerProb returns the probability that Winners[i] is chosen in this state.
func (s State) WinnerProb(i int) float64 {
	if s.Odds != nil {
		return s.Odds[i]
	}
	return 1 / float64(len(s.Winners))
}

func (s State) probOf(n cluster.NodeID) float64 {
	i, wins := slices.BinarySearch(s.Winners, n)
	switch {
	case !wins:
		return 0
	case len(s.Winners) == 1:
		return 1
	}
	return s.WinnerProb(i)
}

func (s State) prob(on func(cluster.NodeID) bool) float64 {
	if on == nil {
		return float64(min(len(s.Winners), 1))
	}
	hits, sum := 0, 0.0
	for i, n := range s.Winners {
		if on(n) {
			hits, sum = hits+1, sum+s.WinnerProb(i)
		}
	}
	if hits == len(s.Winners) {
		return float64(min(hits, 1)) // without rounding errors
	}
	return sum
}

// NodeSet is a bit set of nodes. The zero value is empty.
type NodeSet struct {
	Count    int
	Bits     []uint64         // by position
	Position []int32          // by node; read-only
	Order    []cluster.NodeID // by position; read-only
}

func (s NodeSet) Has(n cluster.NodeID) bool {
	if s.Count == 0 {
		return false
	}
	at := s.Position[n]
	return s.Bits[at>>6]>>(at&63)&1 != 0
}

// Filter returns the nodes of the set that good accepts.
func (s NodeSet) Filter(good func(cluster.NodeID) bool) NodeSet {
	kept := s.Clone()
	for n := range s.InOrder() {
		if at := s.Position[n]; !good(n) {
			kept.Bits[at>>6] &^= 1 << (at & 63)
			kept.Count--
		}
	}
	return kept
}

// Clone returns a copy that stays valid after the next prediction.
func (s NodeSet) Clone() NodeSet {
	s.Bits = slices.Clone(s.Bits)
	return s
}

// Append appends the nodes of the set to the list, in the order of NodeID.
func (s NodeSet) Append(list []cluster.NodeID) []cluster.NodeID {
	if s.Count == 0 {
		return list
	}
	end := len(list)
	list = slices.Grow(list, s.Count+1)[:end+s.Count+1] // the loop has no branch, so it also writes the node after the last
	for n, at := range s.Position {
		list[end] = cluster.NodeID(n)
		end += int(s.Bits[at>>6] >> (at & 63) & 1)
	}
	return list[:end]
}

// InOrder iterates over the set in the order in which the scheduler examines nodes.
func (s NodeSet) InOrder() iter.Seq[cluster.NodeID] {
	return func(yield func(cluster.NodeID) bool) {
		for i, word := range s.Bits {
			for ; word != 0; word &= word - 1 {
				if !yield(s.Order[i<<6+bits.TrailingZeros64(word)]) {
					return
				}
			}
		}
	}
}

// All iterates over the set in the order of NodeID.
func (s NodeSet) All() iter.Seq[cluster.NodeID] {
	return func(yield func(cluster.NodeID) bool) {
		for n := range s.Position {
			if s.Has(cluster.NodeID(n)) && !yield(cluster.NodeID(n)) {
				return
			}
		}
	}
}
