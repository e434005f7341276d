package guard

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// BlockingPods selects pods that must not be disturbed: no pod leaves the node on which one of them runs. It always
// names their namespace. Otherwise, a pod of any namespace could keep all pods on its node.
type BlockingPods struct {
	Selector  labels.Selector
	Namespace string
}

// The rule ignores whether the blocking pod is in scope, and holds until that pod has ended. A
// terminating pod still runs.
var blockedByPod = Rule{plan.BlockedByPod, NodeScope, func(in Input) (string, bool) {
	if len(in.Options.BlockingPods) == 0 {
		return "", false
	}
	why, known := in.Cache.blockingPods[in.Pod.Node]
	if !known {
		why = findBlockingPod(in.Snapshot, in.Pod.Node, in.Options.BlockingPods)
		in.Cache.blockingPods[in.Pod.Node] = why
	}
	return why, why != ""
}}

// findBlockingPod describes the first pod on the node that one of the selectors matches, or returns "".
func findBlockingPod(s *cluster.Snapshot, node cluster.NodeID, selectors []BlockingPods) string {
	for _, id := range s.Nodes[node].Pods {
		p := s.Pods[id].Object
		for _, b := range selectors {
			if b.Namespace == p.Namespace && b.Selector.Matches(labels.Set(p.Labels)) {
				return fmt.Sprintf("%s/%s runs on node %s, and guards.blockingPods selects it (%s)", p.Namespace, p.Name, s.Nodes[node].Name, b.Selector)
			}
		}
	}
	return ""
}
