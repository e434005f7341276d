package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
)

// nodeStatus says what a node is, before anything about its pods.
func (e *Explainer) nodeStatus(n *cluster.Node) *plan.NodeStatus {
	c := e.start
	return &plan.NodeStatus{
		Zone: c.Limits.Zones[n.ID], InScope: c.planner.opts.Guards.Scope.HasNode(n), State: guard.NodeState(n),
		Used: usedFracs(c.DescribeState(), n.Name), Hint: c.hintOf(c.planner, n.Name),
	}
}
