package record

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// fit drops what a person needs least until the spec fits into the bounds: goals beyond those of the nodes that are
// emptied, samples, states, and at last whole waves from the end.
func fit(s *v1alpha1.RebalancePlanSpec, p *plan.Plan, nodes int, most bounds) {
	for _, drop := range []func(){
		func() { s.Goals = s.Goals[:min(len(s.Goals), max(maxList, nodes))] },
		func() {
			for i := range s.NotMoved {
				s.NotMoved[i].Samples = nil
			}
		},
		func() { s.Before.Workloads, s.After.Workloads = nil, nil },
		func() { s.Before.Nodes, s.After.Nodes = nil, nil },
	} {
		if size(s) <= most.bytes {
			return
		}
		drop()
	}
	all, hints := s.Moves, s.Hints
	s.Moves, s.Hints = nil, nil
	left, n := most.bytes-size(s), 0
	for h := 0; n < len(all); n++ {
		for left -= size(&all[n]) + 1; h < len(hints) && hints[h].Wave <= all[n].Wave; h++ {
			left -= size(&hints[h]) + 1
		}
		if left < 0 {
			break
		}
	}
	s.Moves, s.Hints = all, hints
	most.moves = n
	cutMoves(s, p, most)
}

// cutMoves keeps as many moves as the bounds permit, in whole waves from the first. What is executed together stays
// together: the moves from a node that is emptied, and a move that makes room with the one for which it does.
func cutMoves(s *v1alpha1.RebalancePlanSpec, p *plan.Plan, most bounds) {
	lastOfPod, lastFrom, nodes, wave := map[string]int{}, map[string]int{}, map[string]bool{}, int32(0)
	for i := range p.Moves {
		lastOfPod[p.Moves[i].Pod.UID], lastFrom[p.Moves[i].From] = i, i
	}
	met, keep, together := emptied(p), 0, 0
	for i := range p.Moves[:min(most.moves, len(s.Moves))] {
		m := &p.Moves[i]
		if m.DisplacedFor != nil {
			together = max(together, lastOfPod[m.DisplacedFor.UID])
		}
		for _, id := range m.Goals {
			if node := met[id]; node != "" {
				together, nodes[node] = max(together, lastFrom[node]), true
			}
		}
		if len(nodes) > most.goals {
			break
		}
		if together <= i && (i+1 == len(p.Moves) || p.Moves[i+1].Wave != m.Wave) {
			keep, wave = i+1, int32(m.Wave)
		}
	}
	s.Moves = s.Moves[:keep]
	s.Hints = slices.DeleteFunc(s.Hints, func(h v1alpha1.WaveHints) bool { return h.Wave > wave })
}

// emptied returns the nodes that the plan empties, by the IDs of the goals.
func emptied(p *plan.Plan) map[string]string {
	out := map[string]string{}
	for i := range p.Goals {
		if g := &p.Goals[i]; g.Kind == plan.NodeEmpty && p.After.Excess[g.ID] == 0 {
			out[g.ID] = g.Subject.Name
		}
	}
	return out
}
