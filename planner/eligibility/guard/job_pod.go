package guard

import "github.com/evenkeel-project/evenkeel/plan"

// A Job's pod starts its work over, and the eviction may count against the
// Job's backoffLimit.
var jobPod = Rule{plan.JobPod, podScope, func(in Input) (string, bool) {
	isJob := in.Pod.Controller != nil && in.Pod.Controller.Kind == "Job"
	return "a Job's pod would lose its work", isJob && in.Options.Protect[ProtectJobs]
}}
