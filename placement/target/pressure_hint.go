package target

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A node with the pressure hint uses more than its rules allow. Pods leave it, so none are sent there.
var pressureHint = Rule{Code: plan.NodesUnderPressure, Node: func(in *Input, n *cluster.Node) string {
	if in.UnderPressure == nil || !in.UnderPressure[n.ID] {
		return ""
	}
	return "under the pressure hint"
}}
