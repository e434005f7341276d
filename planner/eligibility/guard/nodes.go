package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
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
	by := DisruptedBy(n)
	if by == "" {
		return "", false
	}
	return fmt.Sprintf("node %s is being removed by %s", n.Name, by), true
}}

// disruptionTaints maps the taints of nodes that will be removed to the programs that set them.
var disruptionTaints = map[string]string{
	"karpenter.sh/disrupted":         "Karpenter",
	"karpenter.sh/disruption":        "Karpenter",
	"ToBeDeletedByClusterAutoscaler": "the cluster autoscaler",
}

// DisruptedBy names the program or request that removes the node. It returns "" if the node stays.
func DisruptedBy(n *cluster.Node) string {
	if n.Object.DeletionTimestamp != nil {
		return "a delete request"
	}
	for i := range n.Object.Spec.Taints {
		if by, ok := disruptionTaints[n.Object.Spec.Taints[i].Key]; ok {
			return by
		}
	}
	return ""
}

// NodeState describes the conditions that keep pods away from a node or remove them. It returns an
// empty list if the node has no such condition.
func NodeState(n *cluster.Node) []string {
	state := []string{}
	if n.Object.Spec.Unschedulable {
		state = append(state, "cordoned")
	}
	if !n.Ready {
		state = append(state, "not Ready")
	}
	if how := Emptied(n); how != "" {
		state = append(state, "being "+how)
	}
	return state
}
