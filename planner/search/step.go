package search

import "github.com/evenkeel-project/evenkeel/cluster"

// Step is an accepted move inside the search.
type Step struct {
	Pod     cluster.PodID
	From    cluster.NodeID
	Landing Landing
	goal    int // index of the goal that asked for it
	// Benefit is the share of the goals' initial excess that its leaving removes,
	// and most the goal that it serves most, as things stand before it.
	Benefit    float64
	MostServed int
	// Displaced is set where it only makes room for another.
	Displaced *DisplacedFor
}

// DisplacedFor says for which pod a move makes room, and where.
type DisplacedFor struct {
	Pod cluster.PodID
	On  cluster.NodeID
}

// WaveStep is a step with the wave it is in.
type WaveStep struct {
	Step
	Wave int
}
