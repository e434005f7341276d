package guard

import "github.com/evenkeel-project/evenkeel/plan"

// A pod that has ended uses no resources, and the Eviction API deletes it without checking its
// PodDisruptionBudget.
var podTerminal = Rule{plan.PodTerminal, PodScope, func(in Input) (string, bool) {
	if !in.Pod.Terminal {
		return "", false
	}
	return "the pod has ended (" + string(in.Pod.Object.Status.Phase) + ")", true
}}
