package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/plan"
)

var nodeOutOfScope = Rule{plan.NodeOutOfScope, NodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	if in.Options.Scope.SelectsNode(n) {
		return "", false
	}
	return "node " + n.Name + " is out of scope (nodeSelector)", true
}}

// A virtual node has no neighbours to relieve: each of its pods has a machine of its own, or runs in another cluster.
var virtualNode = Rule{plan.VirtualNode, NodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	kind := in.Options.Scope.Virtual.Kind(n.Object)
	return fmt.Sprintf("node %s is virtual (%s)", n.Name, kind), kind != ""
}}

var nodeExcluded = Rule{plan.NodeExcluded, NodeScope, func(in Input) (string, bool) {
	for _, source := range in.nodeAnnotations().Exclude {
		return source.String(), true
	}
	return "", false
}}

// No kubelet terminates pods on a NotReady node. The node lifecycle controller evicts its pods.
var nodeNotReady = Rule{plan.NodeNotReady, NodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	if n.Ready {
		return "", false
	}
	return "node " + n.Name + " is not Ready", true
}}

// Another program that removes a node also evicts its pods. If two programs evict pods of the same
// workload, they may exceed its budget.
var nodeBeingDisrupted = Rule{plan.NodeBeingDisrupted, NodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	f, found := in.Options.Scope.Marks.First(n.Object, nodemarks.Removing)
	if !found {
		return "", false
	}
	return fmt.Sprintf("node %s is %s", n.Name, f.Describe()), true
}}
