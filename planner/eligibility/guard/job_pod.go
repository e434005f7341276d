package guard

import "github.com/evenkeel-project/evenkeel/plan"

// The replacement of a Job's pod starts the work again, and the eviction may count against
// backoffLimit.
var jobPod = Rule{plan.JobPod, PodScope, func(in Input) (string, bool) {
	isJob := in.Pod.Controller != nil && in.Pod.Controller.Kind == "Job"
	return "the pod of a Job would lose its work", isJob && in.Options.Protect[ProtectJobs]
}}
