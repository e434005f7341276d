package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Runs is CanRun of one pod, to be asked of many nodes: the pod's affinity is
// read once.
func Runs(pod *corev1.Pod) func(*cluster.Node) bool {
	affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
	return func(n *cluster.Node) bool {
		return n.Ready && tolerates(pod, n.Object) && schedulable(pod, n.Object) && affinityMatches(affinity, n.Object)
	}
}
