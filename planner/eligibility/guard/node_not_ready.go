package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// No kubelet terminates pods on a NotReady node. The node lifecycle controller evicts its pods.
var nodeNotReady = Rule{plan.NodeNotReady, NodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	if n.Ready {
		return "", false
	}
	return fmt.Sprintf("node %s is not Ready", n.Name), true
}}
