package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

var priorityTooHigh = Rule{plan.PriorityTooHigh, podScope, func(in Input) (string, bool) {
	limit, known := priorityLimit(in)
	if !known {
		return fmt.Sprintf("guards.priorityBelow names PriorityClass %q, which the cluster does not have", in.Options.PriorityBelowName), true
	}
	p, known := priority(in)
	if !known {
		return fmt.Sprintf("its priority is not known: it names PriorityClass %q, which the cluster does not have", in.Pod.Object.Spec.PriorityClassName), true
	}
	if p < limit {
		return "", false
	}
	return fmt.Sprintf("priority %d is not below %d", p, limit), true
}}

func priorityLimit(in Input) (int32, bool) {
	if name := in.Options.PriorityBelowName; name != "" {
		return classValue(in, name)
	}
	return in.Options.PriorityBelow, true
}

// priority of the pod. Admission writes it beside the class's name; a snapshot
// written by hand may have the name alone.
func priority(in Input) (int32, bool) {
	switch spec := &in.Pod.Object.Spec; {
	case spec.Priority != nil:
		return *spec.Priority, true
	case spec.PriorityClassName != "":
		return classValue(in, spec.PriorityClassName)
	}
	return 0, true
}

func classValue(in Input, name string) (int32, bool) {
	switch name {
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
