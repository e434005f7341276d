package guard

import "github.com/evenkeel-project/evenkeel/plan"

// A pod that has ended holds no resources; the Eviction API would delete it
// without asking any budget.
var podTerminal = Rule{plan.PodTerminal, podScope, func(in Input) (string, bool) {
	if !in.Pod.Terminal {
		return "", false
	}
	return "the pod has ended (" + string(in.Pod.Object.Status.Phase) + ")", true
}}
