package guard

import "github.com/evenkeel-project/evenkeel/plan"

// A device that a claim holds may not be free elsewhere.
var resourceClaims = Rule{plan.ResourceClaims, podScope, func(in Input) (string, bool) {
	spec := &in.Pod.Object.Spec
	return "it uses resource claims (guards.protect: PodsWithResourceClaims)", len(spec.ResourceClaims) > 0 && in.Options.Protect[ProtectResourceClaims]
}}
