package prediction

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

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
