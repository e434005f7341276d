package prediction

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"slices"
)

// State is what the scheduler would decide in one state of the victim.
type State struct {
	// Feasible are the nodes that pass every filter, sorted; nil in the result of
	// PredictOdds.
	Feasible []cluster.NodeID
	// FeasibleSet holds the feasible nodes as a set; only PredictOdds sets it.
	FeasibleSet NodeSet
	// Winners are the nodes that the scheduler may choose, sorted: those with the best
	// total score. If the scheduler scores a sample of the feasible nodes, these are
	// the best nodes of every possible sample.
	Winners []cluster.NodeID
	// Odds are the winners' probabilities; they sum to 1. nil: all are equal, as always
	// when the scheduler scores every feasible node.
	Odds []float64
	// SampleSize is the number of feasible nodes that the scheduler scores; 0: all.
	SampleSize int
	// Best is the best total score of all possible samples; 0 if no node is feasible.
	Best int64
}

// WinnerProb returns the probability that the scheduler chooses Winners[i] in this
// state.
func (s State) WinnerProb(i int) float64 {
	if s.Odds != nil {
		return s.Odds[i]
	}
	return 1 / float64(len(s.Winners))
}

// probOf returns the probability of the node in this state.
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

// prob returns the probability of the nodes for which `on` returns true, in this state.
func (s State) prob(on func(cluster.NodeID) bool) float64 {
	hits, sum := 0, 0.0
	for i, n := range s.Winners {
		if on(n) {
			hits++
			if s.Odds != nil {
				sum += s.Odds[i]
			}
		}
	}
	switch {
	case hits == 0:
		return 0
	case s.Odds == nil || hits == len(s.Winners):
		return float64(hits) / float64(len(s.Winners))
	}
	return sum
}
