package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// The configuration selects nodes by label.
var nodeOutOfScope = Rule{plan.NodeOutOfScope, NodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	if in.Options.Scope.HasNode(n) {
		return "", false
	}
	return fmt.Sprintf("node %s is out of scope (nodeSelector)", n.Name), true
}}
