package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

var priorityTooHigh = Rule{plan.PriorityTooHigh, func(in Input) (string, bool) {
	limit, known := priorityLimit(in)
	if !known {
		return fmt.Sprintf("guards.priorityBelow names PriorityClass %q, which the cluster does not have", in.Options.PriorityBelowName), true
	}
	var p int32
	if in.Pod.Object.Spec.Priority != nil {
		p = *in.Pod.Object.Spec.Priority
	}
	return fmt.Sprintf("priority %d is not below %d", p, limit), p >= limit
}}

func priorityLimit(in Input) (int32, bool) {
	switch name := in.Options.PriorityBelowName; name {
	case "":
		return in.Options.PriorityBelow, true
	case "system-cluster-critical":
		return systemClusterCritical, true
	case "system-node-critical":
		return systemNodeCritical, true
	default:
		for _, c := range in.Snapshot.Objects.PriorityClasses {
			if c.Name == name {
				return c.Value, true
			}
		}
		return 0, false
	}
}
