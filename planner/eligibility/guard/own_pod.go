package guard

import "github.com/evenkeel-project/evenkeel/plan"

// The chart sets this label on every pod of Evenkeel.
const (
	ownLabel = "app.kubernetes.io/name"
	ownName  = "evenkeel"
)

// If Evenkeel evicted itself, it could not finish the pass.
var ownPod = Rule{plan.OwnPod, PodScope, func(in Input) (string, bool) {
	return "the pod belongs to Evenkeel", in.Pod.Object.Labels[ownLabel] == ownName
}}
