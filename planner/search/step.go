package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// Step is a move that the search has accepted.
type Step struct {
	Pod     cluster.PodID
	From    cluster.NodeID
	Landing Landing
	goal    int // index of the goal for which the search tried it
	// Benefit is the weighted share of the goals' initial excess that the pod's leaving removes. MostServed
	// is the goal of which it removes the largest share. Both are measured before the move.
	Benefit      float64
	MostImproved int
	// Displaced is set if the move only makes room for another; otherwise nil.
	Displaced *DisplacedFor
}

// DisplacedFor names the pod for which a move makes room, and the node on which it does.
type DisplacedFor struct {
	Pod cluster.PodID
	On  cluster.NodeID
}

// WaveStep is a step with the number of its wave, from 1.
type WaveStep struct {
	Step
	Wave int
}

// Landing is the predicted landing of a replacement. Probabilities are fractions of 1.
type Landing struct {
	To                                                cluster.NodeID
	Acceptable                                        int   // number of nodes on which the landing is acceptable
	ImprovedGoals                                     []int // goals that the move improves
	Confidence, ReturnProbability, PendingProbability float64
	// Hinted are the nodes that must carry a hint for this prediction. In a wave, they are the hinted nodes
	// of the wave.
	Hinted []cluster.NodeID
	// Steered says that the landing is acceptable only with hints.
	Steered bool
	// predicted is the prediction behind this landing. The search clears it when it accepts the move.
	predicted prediction.Prediction
}
