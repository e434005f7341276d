package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// standing says what a node is, before anything about its pods.
func (e *Explainer) standing(n *cluster.Node) *plan.NodeStatus {
	c := e.start
	return &plan.NodeStatus{
		Zone: c.limits.zone[n.ID], InScope: c.p.opts.Guards.Scope.HasNode(n), State: guard.NodeState(n),
		Used: usedFracs(c.state(), n.Name), Hint: c.hintOf(c.p, n.Name),
	}
}
