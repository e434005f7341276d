package search

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/plan"
)

// removal is the kind of a move that deletes a pod that has ended. It uses no room, and every such move is accepted.
type removal struct{ relocation }

// join counts nothing: the pod uses no room, and no replacement follows.
func (removal) join(*Wave, Step) {}

func (removal) predict(c *Simulation, m Move) (Landing, plan.Reason, bool) {
	return Landing{To: cluster.NoNode, Confidence: 1, predicted: &prediction.Prediction{},
		ImprovedGoals: c.Goals.ImprovedGoals(m.Pod, c.NodeOf(m.Pod), cluster.NoNode)}, plan.Reason{}, true
}
