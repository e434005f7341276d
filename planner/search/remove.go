package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
)

// removal is the kind of a move that deletes a pod that has ended. It uses no room, no replacement follows, and every
// such move is accepted.
type removal struct{}

func (removal) predict(c *Simulation, m Move) (Landing, plan.Reason, bool) {
	return Landing{To: cluster.NoNode, Confidence: 1, predicted: &prediction.Prediction{},
		ImprovedGoals: c.Goals.ImprovedGoals(m.Pod, c.NodeOf(m.Pod), cluster.NoNode)}, plan.Reason{}, true
}

func (removal) accepts(*Simulation, Move) func(cluster.NodeID) bool {
	return func(cluster.NodeID) bool { return false }
}

func (removal) whyLater(_ *Wave, _ Move, hasRoom bool) string {
	if !hasRoom {
		return fewerMayBeAway
	}
	return ""
}

func (k removal) land(w *Wave, m Move) (Landing, plan.Reason, Verdict) {
	l, _, _ := k.predict(w.Now, m)
	l.Hinted = w.hinted
	return l, plan.Reason{}, Admitted
}

func (removal) describe(_ *Step, _ *cluster.Snapshot, g *plan.Goal, m *plan.Move) {
	m.Removal = g.Removal
}

func (removal) recognizes(_ *plan.Move, p *cluster.Pod) bool { return p.Terminal }
