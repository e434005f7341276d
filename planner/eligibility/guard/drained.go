package guard

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A program that drains a node also evicts its pods, and the two may exceed a budget together. A cordon alone says only
// that no new pods should come: people also cordon nodes to have them emptied slowly, so cordoned nodes stay sources.
var nodeBeingDrained = Rule{plan.NodeBeingDrained, NodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	if f, found := in.Options.Scope.Marks.First(n.Object, nodemarks.Draining); found {
		return fmt.Sprintf("node %s is %s", n.Name, f.Describe()), true
	}
	if !n.Object.Spec.Unschedulable {
		return "", false
	}
	for _, id := range n.Pods {
		p := in.Snapshot.Pods[id].Object
		if isEvicted(p) && !in.OwnEvictions[string(p.UID)] {
			return fmt.Sprintf("node %s is being drained: it is cordoned, and another client evicted %s/%s from it", n.Name, p.Namespace, p.Name), true
		}
	}
	return "", false
}}

// isEvicted reports whether the pod terminates because of a call of the Eviction API.
func isEvicted(p *corev1.Pod) bool {
	return p.DeletionTimestamp != nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == "EvictionByEvictionAPI"
	})
}
