package goal

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Turn selects the strategies for which moves are made. Moves for soft strategies come after all others.
type Turn int

const (
	// EveryTurn selects all strategies. No move may worsen any goal.
	EveryTurn Turn = iota
	// FirmTurn selects the strategies that are not soft. Goals of soft strategies do not limit their moves.
	FirmTurn
	// SoftTurn selects the soft strategies. No move may worsen any goal.
	SoftTurn
)

// HasSoft reports whether a goal belongs to a soft strategy.
func (t *Tracker) HasSoft() bool {
	return slices.ContainsFunc(t.Goals, func(g plan.Goal) bool { return g.Soft })
}

// PodMove is a move of a pod between two nodes.
type PodMove struct {
	Pod      cluster.PodID
	From, To cluster.NodeID
}

// ForTurn returns a new Tracker for the goals of t, as they are selected by the turn, after these moves. The start of
// the Tracker comes after the earlier moves. The goals are those of EveryTurn: the parameter all holds them, because t
// may be a Tracker of another turn. In FirmTurn, the excess of goals of soft strategies does not follow moves. A soft
// goal that is met at the start has no ID; if moves for other strategies worsen it, only a later plan asks for it.
func (t *Tracker) ForTurn(turn Turn, all []plan.Goal, earlier, moves []PodMove) *Tracker {
	goals, counts := all, func(*plan.Goal) bool { return true }
	if turn != EveryTurn {
		goals = slices.Clone(all)
		for i := range goals {
			goals[i].Constraint = goals[i].Constraint || goals[i].Soft != (turn == SoftTurn) || goals[i].Soft && goals[i].ID == ""
		}
	}
	if turn == FirmTurn {
		counts = func(g *plan.Goal) bool { return !g.Soft }
	}
	out := newTracker(t.Snapshot, goals, counts)
	out.UnderPressure, out.Annotations, out.Barred, out.SelectsNodes = t.UnderPressure, t.Annotations, t.Barred, t.SelectsNodes
	if t.outside != nil {
		out.BindOutside(t.outside)
	}
	for _, m := range earlier {
		out.Move(m.Pod, m.From, m.To)
	}
	out.begin()
	for _, m := range moves {
		out.Move(m.Pod, m.From, m.To)
	}
	return out
}
