package search

import "github.com/evenkeel-project/evenkeel/cluster"

// displacementSearch makes steps.
type displacementSearch struct {
	*Search
	tries int
	// landings are where replacements of pods that would make room go, as things stand;
	// nil: nowhere that does no harm.
	landings map[cluster.PodID]*Landing
}

// displacement is a step of two: q makes room on node t for p, which serves goal g.
type displacement struct {
	displaced, pod cluster.PodID
	target         cluster.NodeID
	goal           int
	served         []int   // by p
	value          float64 // goals' worth of excess that it takes away
	cost           float64
}
