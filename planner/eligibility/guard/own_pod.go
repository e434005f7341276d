package guard

import "github.com/evenkeel-project/evenkeel/plan"

// ownLabel marks the pods of every release of the chart.
const (
	ownLabel = "app.kubernetes.io/name"
	ownName  = "evenkeel"
)

// A rebalancer that evicts itself does not finish what it began.
var ownPod = Rule{plan.OwnPod, podScope, func(in Input) (string, bool) {
	return "it is a pod of Evenkeel", in.Pod.Object.Labels[ownLabel] == ownName
}}
