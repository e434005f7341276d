package guard

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// An unbound pod is on no node. The Eviction API ignores PodDisruptionBudgets for pending pods.
var podNotBound = Rule{plan.PodNotBound, PodScope, func(in Input) (string, bool) {
	return "the pod is not bound to a known node", in.Pod.Node == cluster.NoNode
}}
