package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// The program that removes a node also evicts its pods. Two programs that evict the same pods
// may exceed budgets.
var nodeBeingDisrupted = Rule{plan.NodeBeingDisrupted, NodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	by := DisruptedBy(n)
	if by == "" {
		return "", false
	}
	return fmt.Sprintf("node %s is being removed by %s", n.Name, by), true
}}
