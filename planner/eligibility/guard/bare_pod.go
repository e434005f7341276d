package guard

import "github.com/evenkeel-project/evenkeel/plan"

// Nobody re-creates a pod without a controller: evicting it deletes it.
var barePod = Rule{plan.BarePod, podScope, func(in Input) (string, bool) {
	return "no controller would replace the pod", in.Pod.Controller == nil && in.Options.Protect[ProtectBarePods]
}}
