package ranking

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/strategies/podfilter"
)

// HasPod is podfilter.InScope for pods that have not ended. It checks each node only once.
func (n *Nodes) HasPod(p *cluster.Pod) bool {
	return p.Node != cluster.NoNode && !p.Terminal && !p.Terminating && n.inScope[p.Node] && !podfilter.BelongsToNode(p) &&
		n.scope.HasPod(n.snapshot, p)
}

// Goal returns a goal of the strategy: the pod leaves its node, for one of the targets. Nil targets
// mean every other node.
func Goal(strategy string, p *cluster.Pod, targets []bool, reason plan.Reason) plan.Goal {
	g := podfilter.Goal(strategy, p, reason)
	g.MayReturn, g.Targets = false, targets
	return g
}
