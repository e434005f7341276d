package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// Move is a pod that leaves its node: all that a prediction depends on besides the cluster.
type Move struct {
	Pod  cluster.PodID
	Kind Kind
	// Strategy is the index of the strategy for which the pod moves, or limits.NoStrategy if no strategy has rules of
	// its own.
	Strategy int
}

// Step is a move that the search has accepted.
type Step struct {
	Move
	From    cluster.NodeID
	Landing Landing
	goal    int // index of the goal for which the search tried it
	// Benefit is the weighted share of the goals' initial excess that the eviction removes. MostImproved is the goal
	// that loses the largest share of its excess. Both values are measured before the move.
	Benefit      float64
	MostImproved int
	// For is set only for moves of the kind MakeRoom.
	For DisplacedFor
}

// DisplacedFor names the pod for which a move makes room, and the node on which it makes
// room.
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
	// Hinted lists the nodes that must carry a hint for this prediction. Within a wave, Hinted lists all hinted nodes
	// of the wave.
	Hinted []cluster.NodeID
	// NotBad is set for moves of the kind WithoutPlace: the probability that the replacement lands on no other than an
	// acceptable node.
	NotBad float64
	// Steered says that the landing is acceptable only with hints.
	Steered bool
	// predicted is the underlying prediction, which the search sets to nil when it accepts the move.
	predicted *prediction.Prediction
}
