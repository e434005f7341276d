package guard

import "github.com/evenkeel-project/evenkeel/plan"

// An annotation or a label on the node excludes it.
var nodeExcluded = Rule{plan.NodeExcluded, NodeScope, func(in Input) (string, bool) {
	for _, source := range in.nodeAnnotations().Exclude {
		return source.String(), true
	}
	return "", false
}}
