package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// On a node that is not Ready nobody ends the pod; the node's own controllers
// decide what becomes of its pods.
var nodeNotReady = Rule{plan.NodeNotReady, nodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	if n.Ready {
		return "", false
	}
	return fmt.Sprintf("node %s is not Ready", n.Name), true
}}

// disrupting are taints with which others announce that they take a node away.
var disrupting = map[string]string{
	"karpenter.sh/disrupted":         "Karpenter",
	"karpenter.sh/disruption":        "Karpenter",
	"ToBeDeletedByClusterAutoscaler": "the cluster autoscaler",
}

// Who takes a node away moves its pods too; two hands on one pod break budgets.
var nodeBeingDisrupted = Rule{plan.NodeBeingDisrupted, nodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	who := DisruptedBy(n)
	if who == "" {
		return "", false
	}
	return fmt.Sprintf("node %s is being taken away by %s", n.Name, who), true
}}

// DisruptedBy names who takes the node away, or is empty.
func DisruptedBy(n *cluster.Node) string {
	if n.Object.DeletionTimestamp != nil {
		return "whoever deletes it"
	}
	for i := range n.Object.Spec.Taints {
		if who, ok := disrupting[n.Object.Spec.Taints[i].Key]; ok {
			return who
		}
	}
	return ""
}

var nodeExcluded = Rule{plan.NodeExcluded, nodeScope, func(in Input) (string, bool) {
	for _, src := range in.node().Exclude {
		return src.String(), true
	}
	return "", false
}}
