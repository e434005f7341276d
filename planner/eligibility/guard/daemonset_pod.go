package guard

import "github.com/evenkeel-project/evenkeel/plan"

// A DaemonSet's replacement comes up on the same node, or not at all.
var daemonSetPod = Rule{plan.DaemonSetPod, podScope, func(in Input) (string, bool) {
	return "a DaemonSet pod comes back on the same node", in.Pod.Controller != nil && in.Pod.Controller.Kind == "DaemonSet"
}}
