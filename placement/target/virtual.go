package target

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A virtual node is no machine. Its capacity says nothing about room for other pods.
var virtual = Rule{Code: plan.OnlyVirtualNodes, Node: func(in *Input, n *cluster.Node) string {
	kind := in.Scope.Virtual.Kind(n.Object)
	if kind == "" {
		return ""
	}
	return "virtual (" + kind + ")"
}}
