package search

import "github.com/evenkeel-project/evenkeel/cluster"

// displacementSearch finds steps of two moves.
type displacementSearch struct {
	*Search
	tries int
	// landings caches, by displaced pod, the predicted landing of its replacement; nil: no
	// acceptable landing.
	landings map[cluster.PodID]*Landing
}

// displacement is a step of two moves: displaced leaves target, and pod lands there and
// serves goal.
type displacement struct {
	displaced, pod cluster.PodID
	target         cluster.NodeID
	goal           int
	served         []int   // goals that pod's move serves
	value          float64 // weighted excess that both moves remove, as a share of the initial excess
	cost           float64
}
