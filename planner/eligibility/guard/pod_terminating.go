package guard

import "github.com/evenkeel-project/evenkeel/plan"

// The controller of a terminating pod is already replacing it.
var podTerminating = Rule{plan.PodTerminating, PodScope, func(in Input) (string, bool) {
	return "the pod is already terminating", in.Pod.Terminating
}}
