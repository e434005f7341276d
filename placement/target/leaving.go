package target

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A node that another program removes, drains, or marks as outgoing does not stay: the pod would be evicted again. The
// kind are all marks of the kinds removing, draining and outgoing, and a node with a deletion time.
var leaving = Rule{Code: plan.OnlyLeavingNodes, Node: func(in *Input, n *cluster.Node) string {
	f, found := in.Scope.Marks.First(n.Object, nodemarks.Removing, nodemarks.Draining, nodemarks.Outgoing)
	if !found {
		return ""
	}
	return f.Describe()
}}
