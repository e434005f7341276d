package guard

import "github.com/evenkeel-project/evenkeel/plan"

// A pod without a controller has no replacement: its eviction deletes it.
var barePod = Rule{plan.BarePod, PodScope, func(in Input) (string, bool) {
	return "no controller would replace the pod", in.Pod.Controller == nil && in.Options.Protect[ProtectBarePods]
}}
