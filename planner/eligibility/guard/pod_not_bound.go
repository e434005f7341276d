package guard

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A pod without a node has nothing to leave, and the Eviction API ignores
// budgets for pending pods.
var podNotBound = Rule{plan.PodNotBound, podScope, func(in Input) (string, bool) {
	return "the pod is not bound to a known node", in.Pod.Node == cluster.NoNode
}}
