package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// Scorer is one score plugin of a profile. score sets every value of out, which
// may hold anything, for the feasible nodes: 0..100, or 0..10 in a legacy Policy.
// idle reports that it would give every node 0; nil: never.
type Scorer struct {
	name   string
	weight int64
	score  func(r *Attempt, feasible []cluster.NodeID, out []int64)
	idle   func(in *Replacement) bool
	// relative scores depend on the other nodes that are scored.
	relative bool
	byNode   func(in *Replacement) []int8 // the scores, where each node has one of its own; nil: score finds them
}
