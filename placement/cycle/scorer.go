package cycle

import "github.com/evenkeel-project/evenkeel/cluster"

// Scorer is one score plugin of a profile. score sets every value of out, which
// may hold anything, for the feasible nodes: 0..100, or 0..10 in a legacy Policy.
// idle reports that it would give every node 0; nil: never.
type Scorer struct {
	Name       string
	Weight     int64
	Score      func(r *Attempt, feasible []cluster.NodeID, out []int64)
	AlwaysZero func(in *Replacement) bool
	// Relative scores depend on the other nodes that are scored.
	Relative   bool
	NodeScores func(in *Replacement) []int8 // the scores, where each node has one of its own; nil: score finds them
}
