package guard

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A program that drains a node also evicts its pods, and the two may exceed a budget together. A cordon alone says only
// that no new pods should come: people also cordon nodes to have them emptied slowly, so cordoned nodes stay sources.
var nodeBeingDrained = Rule{plan.NodeBeingDrained, NodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	if by := DrainedBy(n); by != "" {
		return fmt.Sprintf("node %s is being drained by %s", n.Name, by), true
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

// drainTaints maps taints of nodes that are drained, or will be, to the programs that set them.
// They are the defaults of aws-node-termination-handler, GKE, AKS node auto-drain, the node
// maintenance operator and kured.
var drainTaints = map[string]string{
	"aws-node-termination-handler/spot-itn":                  "the AWS node termination handler",
	"aws-node-termination-handler/scheduled-maintenance":     "the AWS node termination handler",
	"aws-node-termination-handler/asg-lifecycle-termination": "the AWS node termination handler",
	"aws-node-termination-handler/rebalance-recommendation":  "the AWS node termination handler",
	"cloud.google.com/impending-node-termination":            "Google Kubernetes Engine",
	"remediator.kubernetes.azure.com/unschedulable":          "Azure Kubernetes Service",
	"remediator.aks.microsoft.com/unschedulable":             "Azure Kubernetes Service",
	"medik8s.io/drain":              "the node maintenance operator",
	"weave.works/kured-node-reboot": "kured",
}

// Annotations of nodes that are drained. The machine config operator of OpenShift writes
// drain-CONFIG or uncordon-CONFIG.
const (
	kuredRebootInProgress = "weave.works/kured-reboot-in-progress"
	machineConfigDrain    = "machineconfiguration.openshift.io/desiredDrain"
)

// DrainedBy names the program that drains the node or is about to drain it, by its taints and
// annotations. It returns "" if no known program does.
func DrainedBy(n *cluster.Node) string {
	for i := range n.Object.Spec.Taints {
		if by, ok := drainTaints[n.Object.Spec.Taints[i].Key]; ok {
			return by
		}
	}
	if _, ok := n.Object.Annotations[kuredRebootInProgress]; ok {
		return "kured"
	}
	if strings.HasPrefix(n.Object.Annotations[machineConfigDrain], "drain-") {
		return "the machine config operator"
	}
	return ""
}

// Emptied describes how a program empties the node, such as "removed by Karpenter". It returns "" if no program does.
func Emptied(n *cluster.Node) string {
	if by := DisruptedBy(n); by != "" {
		return "removed by " + by
	}
	if by := DrainedBy(n); by != "" {
		return "drained by " + by
	}
	return ""
}
