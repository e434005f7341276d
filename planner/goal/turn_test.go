package goal

import (
	"math/rand/v2"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestTurnStartsAfterEarlierMoves: in every turn, the initial excess and the headroom are those
// after the earlier moves, and the excess is that after all moves.
func TestTurnStartsAfterEarlierMoves(t *testing.T) {
	s := must.Get(cluster.New(simulation.Uneven(rand.New(rand.NewPCG(3, 1)), 20, 300)))(t)
	var goals []plan.Goal
	for i := range s.Nodes {
		goals = append(goals, plan.Goal{Strategy: "hot", Kind: plan.NodeBelow, Node: cluster.NodeID(i), Resource: "cpu", Limit: 0.2,
			Weight: 1, Soft: i%3 == 0, Subject: plan.ObjectRef{Kind: "Node", Name: s.Nodes[i].Name}})
	}
	all := Number(s, goals)
	begin := NewTracker(s, all)
	var earlier, moves []PodMove
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node == cluster.NoNode || i%2 == 1 {
			continue
		}
		m := PodMove{p.ID, p.Node, (p.Node + 1) % cluster.NodeID(len(s.Nodes))}
		if len(earlier) < 40 {
			begin.Move(m.Pod, m.From, m.To)
			earlier = append(earlier, m)
		} else if len(moves) < 40 {
			moves = append(moves, m)
		}
	}
	begin.Restart()
	end := begin.Clone()
	for _, m := range moves {
		end.Move(m.Pod, m.From, m.To)
	}
	for _, turn := range []Turn{EveryTurn, FirmTurn, SoftTurn} {
		got, changed := begin.ForTurn(turn, all, earlier, moves), 0
		for i := range all {
			if all[i].Soft && turn == FirmTurn { // the excess of these goals does not follow moves
				continue
			}
			if got.InitialExcess[i] != begin.InitialExcess[i] || got.Excess(i) != end.Excess(i) {
				t.Errorf("turn %d, goal %d: initial excess %d, excess %d, want %d and %d", turn, i, got.InitialExcess[i], got.Excess(i),
					begin.InitialExcess[i], end.Excess(i))
			}
			if begin.InitialExcess[i] != NewTracker(s, all).InitialExcess[i] {
				changed++
			}
		}
		if changed < 5 {
			t.Errorf("turn %d: the earlier moves change the excess of only %d goals", turn, changed)
		}
	}
}
