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
	// Benefit is the weighted share of the goals' initial excess that the eviction removes. MostImproved is
	// the goal that loses the largest share of its excess. Both values are measured before the move.
	Benefit      float64
	MostImproved int
	// Displaced is set only for moves that make room for another pod.
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
	// Hinted lists the nodes that must carry a hint for this prediction. Within a wave, Hinted lists all
	// hinted nodes of the wave.
	Hinted []cluster.NodeID
	// Steered says that the landing is acceptable only with hints.
	Steered bool
	// predicted is the underlying prediction, which the search clears when it accepts the move.
	predicted prediction.Prediction
}
