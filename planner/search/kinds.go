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
	kindCount
)

// kinds has the rules of each kind of move. A new kind is a file, a constant and a line here.
var kinds = [kindCount]kind{
	Relocate:     {replaced: true, placed: true, rules: relocation{}},
	MakeRoom:     {replaced: true, placed: true, rules: roomMaking{}},
	WithoutPlace: {replaced: true, rules: withoutPlace{}},
	Remove:       {rules: removal{}},
}

type kind struct {
	replaced bool // a replacement follows
	placed   bool // a place is predicted for the replacement
	rules    kindRules
}

// kindRules decides about the moves of one kind.
type kindRules interface {
	// predict predicts the landing in one state, and returns the reason and false if it is not acceptable.
	predict(c *Simulation, m Move) (Landing, plan.Reason, bool)
	// accepts returns a function that reports whether the replacement may land on a node. The function is valid until
	// the goals change.
	accepts(c *Simulation, m Move) func(cluster.NodeID) bool
	// whyLater returns why the move must wait for a later wave, wherever its replacement lands, or "". The parameter
	// hasRoom says whether limits and budgets allow one more pod in flight.
	whyLater(w *Wave, m Move, hasRoom bool) string
	// land predicts the landing in all states of the wave.
	land(w *Wave, m Move) (Landing, plan.Reason, Verdict)
	// describe sets the fields of a planned move that depend on the kind; recognizes reads them. The goal g is the one
	// that the move improves most.
	describe(st *Step, s *cluster.Snapshot, g *plan.Goal, m *plan.Move)
	// recognizes reports whether a planned move of the pod is of the kind. MoveKindOf asks the last kind first.
	recognizes(m *plan.Move, p *cluster.Pod) bool
}

// MoveOf returns the move of a pod for a goal of the strategy: a removal if the pod has ended.
func (c *Simulation) MoveOf(pod cluster.PodID, strategy int) Move {
	if c.Snapshot.Pods[pod].Terminal {
		return Move{pod, Remove, strategy}
	}
	return Move{pod, Relocate, strategy}
}

// Predict predicts where the replacement of a pod lands. If the landing is not acceptable to the kind of move, Predict
// returns the reason and false. The landing is valid until the next prediction in this state.
func (c *Simulation) Predict(m Move) (Landing, plan.Reason, bool) {
	return kinds[m.Kind].rules.predict(c, m)
}

// accepts returns a function that reports whether the replacement may land on a node.
func (c *Simulation) accepts(m Move) func(cluster.NodeID) bool {
	return kinds[m.Kind].rules.accepts(c, m)
}

// AcceptableNodes returns the nodes that are acceptable for a landing.
func (c *Simulation) AcceptableNodes(m Move, l *Landing) prediction.NodeSet {
	return l.predicted.Gone.FeasibleSet.Filter(c.accepts(m))
}

// MoveKindOf returns the kind of a planned move of a pod. A move that no other kind recognizes is a Relocate.
func MoveKindOf(m plan.Move, p *cluster.Pod) Kind {
	k := kindCount - 1
	for k > Relocate && !kinds[k].rules.recognizes(&m, p) {
		k--
	}
	return k
}

// Describe sets the fields of a planned move that depend on its kind. The goal g is the one that the move improves
// most.
func (st *Step) Describe(s *cluster.Snapshot, g *plan.Goal, m *plan.Move) {
	m.Strategy, m.Reason = g.Strategy, g.Reason
	kinds[st.Kind].rules.describe(st, s, g, m)
}
