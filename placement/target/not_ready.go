package target

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// No kubelet starts pods on a node that is not Ready, even pods that tolerate its taint.
var notReady = Rule{Code: plan.NoTargetFits, Node: func(_ *Input, n *cluster.Node) string {
	if n.Ready {
		return ""
	}
	return "not Ready"
}}
