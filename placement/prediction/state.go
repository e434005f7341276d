package prediction

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"slices"
)

// State is what the scheduler would find in one state of the victim.
type State struct {
	// Feasible are the nodes that every filter lets the replacement onto, sorted;
	// nil in the predictions of PredictOdds.
	Feasible []cluster.NodeID
	// FeasibleSet are the same nodes as a set, in the predictions of PredictOdds alone.
	FeasibleSet NodeSet
	// Winners are all nodes that may be chosen, sorted: those tied at the best
	// total score. Where the scheduler judges a sample of the feasible nodes,
	// they are the best of any sample, and those that may win in a scattered one.
	Winners []cluster.NodeID
	// Odds are the winners' probabilities; they sum to 1. They are nil where
	// all are equal, which holds whenever every feasible node is judged.
	Odds []float64
	// SampleSize is how many of the feasible nodes the scheduler judges at once,
	// beside each other; 0: all.
	SampleSize int
	// Best is the best total score, of any sample where there are several; 0
	// when nothing is feasible.
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
