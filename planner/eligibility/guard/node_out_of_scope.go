package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

var nodeOutOfScope = Rule{plan.NodeOutOfScope, nodeScope, func(in Input) (string, bool) {
	n := &in.Snapshot.Nodes[in.Pod.Node]
	if in.Options.Scope.HasNode(n) {
		return "", false
	}
	return fmt.Sprintf("node %s is out of scope (nodeSelector)", n.Name), true
}}
