package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Kind says what a move is for, and so which landing is acceptable.
type Kind uint8

const (
	// Relocate moves a pod to a place where a goal gains and none loses.
	Relocate Kind = iota
	// MakeRoom is the first move of a step: its landing harms no goal, and another pod lands on its node.
	MakeRoom
	// WithoutPlace moves a pod whose replacement may stay Pending.
	WithoutPlace
	// Remove deletes a pod that has ended. No replacement follows.
	Remove
)

// kinds has the rules of each kind of move. A new kind is a file and a line here.
var kinds = [...]struct {
	// predict predicts the landing, and returns the reason and false if it is not acceptable.
	predict func(*State, Move) (Landing, plan.Reason, bool)
	// accepts returns a function that reports whether the replacement may land on a node. The function is valid until
	// the goals change.
	accepts func(*State, Move) func(cluster.NodeID) bool
	// anyNode says that the replacement may also land on acceptable nodes without room for it now.
	anyNode bool
}{
	Relocate:     {predict: predictRelocation, accepts: acceptsRelocation},
	MakeRoom:     {predict: predictDisplaced, accepts: acceptsDisplaced},
	WithoutPlace: {predict: predictWithoutPlace, accepts: acceptsWithoutPlace, anyNode: true},
	Remove:       {predict: predictRemoval, accepts: acceptsRelocation},
}

// MoveOf returns the move of a pod for a goal of the strategy: a removal if the pod has ended.
func (c *State) MoveOf(pod cluster.PodID, strategy int) Move {
	if c.Snapshot.Pods[pod].Terminal {
		return Move{pod, Remove, strategy}
	}
	return Move{pod, Relocate, strategy}
}

// Predict predicts where the replacement of a pod lands. If the landing is not acceptable to the kind of move, Predict
// returns the reason and false. The landing is valid until the next prediction in this state.
func (c *State) Predict(m Move) (Landing, plan.Reason, bool) { return kinds[m.Kind].predict(c, m) }

// accepts returns a function that reports whether the replacement may land on a node.
func (c *State) accepts(m Move) func(cluster.NodeID) bool { return kinds[m.Kind].accepts(c, m) }

// AcceptableNodes returns the nodes that are acceptable for a landing.
func (c *State) AcceptableNodes(m Move, l *Landing) prediction.NodeSet {
	return l.predicted.Gone.FeasibleSet.Filter(c.accepts(m))
}

// predictRemoval accepts every removal: it uses no room.
func predictRemoval(c *State, m Move) (Landing, plan.Reason, bool) {
	return Landing{To: cluster.NoNode, Confidence: 1, predicted: &prediction.Prediction{},
		ImprovedGoals: c.Goals.ImprovedGoals(m.Pod, c.NodeOf(m.Pod), cluster.NoNode)}, plan.Reason{}, true
}
