package target

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/plan"
)

// The kubelet refuses all but critical pods under DiskPressure and PIDPressure. Node repair replaces a node that a
// problem detector marks bad, and pods that tolerate the taint of an agent that is not ready start without it. The kind
// are these two conditions and all marks of the kinds unhealthy and starting.
var unhealthy = Rule{Code: plan.OnlyUnhealthyNodes, Node: func(in *Input, n *cluster.Node) string {
	if hasCondition(n, corev1.NodeDiskPressure) {
		return "under DiskPressure"
	}
	if hasCondition(n, corev1.NodePIDPressure) {
		return "under PIDPressure"
	}
	if f, found := in.Scope.Marks.First(n.Object, nodemarks.Unhealthy, nodemarks.Starting); found {
		return f.Describe()
	}
	return ""
}}

func hasCondition(n *cluster.Node, of corev1.NodeConditionType) bool {
	for i := range n.Object.Status.Conditions {
		if c := &n.Object.Status.Conditions[i]; c.Type == of {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
