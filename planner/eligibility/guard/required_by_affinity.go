package guard

import "github.com/evenkeel-project/evenkeel/plan"

// Kubernetes does not evict a pod whose required podAffinity is no longer met
// (IgnoredDuringExecution). Without this rule such a pod would keep running alone.
var requiredByAffinity = Rule{plan.RequiredByAffinity, PlanScope, func(in Input) (string, bool) {
	if !in.Options.Protect[ProtectRequired] {
		return "", false
	}
	if in.Cache == nil {
		return findAffinityRequirements(in.Snapshot).lastMatch(nil, in.Pod.ID)
	}
	return in.Cache.LastRequired(in.Snapshot, nil, in.Pod.ID)
}}
