package guard

import "github.com/evenkeel-project/evenkeel/plan"

// Other nodes may have no free device for the resource claims of the pod.
var resourceClaims = Rule{plan.ResourceClaims, PodScope, func(in Input) (string, bool) {
	hasClaims := len(in.Pod.Object.Spec.ResourceClaims) > 0
	return "the pod uses resource claims (guards.protect: PodsWithResourceClaims)", hasClaims && in.Options.Protect[ProtectResourceClaims]
}}
