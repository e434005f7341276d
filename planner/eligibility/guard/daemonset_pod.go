package guard

import "github.com/evenkeel-project/evenkeel/plan"

// The DaemonSet controller creates the replacement on the same node.
var daemonSetPod = Rule{plan.DaemonSetPod, PodScope, func(in Input) (string, bool) {
	isDaemonSet := in.Pod.Controller != nil && in.Pod.Controller.Kind == "DaemonSet"
	return "the DaemonSet controller would replace the pod on the same node", isDaemonSet
}}
