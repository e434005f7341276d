package target

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A person or a program cordons a node before a drain or an upgrade, which would evict the pod again. The scheduler
// sends there only pods that tolerate the cordon, such as those that tolerate every taint.
var cordoned = Rule{Code: plan.OnlyCordonedNodes, Node: func(_ *Input, n *cluster.Node) string {
	if !n.Object.Spec.Unschedulable {
		return ""
	}
	return "cordoned"
}}
