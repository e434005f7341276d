package ranking

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
)

// HasPod is podfilter.InScope for pods that have not ended, and that may be on a node out of scope.
// The strategy states no goal about such a pod, but would state one after a move to another node.
func (n *Nodes) HasPod(p *cluster.Pod) bool {
	return p.Node != cluster.NoNode && !p.Terminal && !p.Terminating && !p.BelongsToNode() && n.scope.HasPod(n.snapshot, p)
}

// InScope reports whether a node is in scope.
func (n *Nodes) InScope(id cluster.NodeID) bool { return n.inScope[id] }

// Goal returns a goal of the strategy: the pod leaves its node, for one of the targets. Nil targets
// mean every other node.
func Goal(strategy string, p *cluster.Pod, targets []bool, reason plan.Reason) plan.Goal {
	g := podfilter.Goal(strategy, p, reason)
	g.MayReturn, g.Targets = false, targets
	return g
}
