package planner

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/planner/eligibility/guard"
	"github.com/evenkeel-project/evenkeel/planner/summary"
	"maps"
	"slices"
)

// usedFracs returns the known usage of the node by resource, as a share of the node's total.
func usedFracs(state plan.State, node string) map[string]float64 {
	i := slices.IndexFunc(state.Nodes, func(n plan.NodeState) bool { return n.Name == node })
	if i < 0 {
		return nil
	}
	return maps.Clone(state.Nodes[i].Used)
}

// nodeStatus returns the state of the node itself, without its pods.
func (e *Explainer) nodeStatus(n *cluster.Node) *plan.NodeStatus {
	c := e.start
	return &plan.NodeStatus{
		Zone: c.Limits.Zones[n.ID], InScope: c.Options.Guards.Scope.HasNode(n), State: guard.NodeState(n),
		Used: usedFracs(summary.DescribeState(c), n.Name), Hint: summary.HintOf(c, n.Name),
	}
}
