package guard

import "github.com/evenkeel-project/evenkeel/plan"

// A terminating pod is leaving already; its replacement is on its way.
var podTerminating = Rule{plan.PodTerminating, podScope, func(in Input) (string, bool) {
	return "the pod is terminating already", in.Pod.Terminating
}}
