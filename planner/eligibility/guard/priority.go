package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

var systemCritical = Rule{plan.SystemCritical, TemplateScope, func(in Input) (string, bool) {
	p, known := podPriority(in)
	if !known || p < systemClusterCriticalPriority || !in.Options.Protect[ProtectSystemCritical] {
		return "", false
	}
	return fmt.Sprintf("the pod is system-critical (priority %d)", p), true
}}

// Kubernetes gives these priorities to the built-in classes and reserves values above 1,000,000,000 for the system.
const (
	systemClusterCriticalPriority int32 = 2000000000
	systemNodeCriticalPriority    int32 = 2000001000
)

var priorityTooHigh = Rule{plan.PriorityTooHigh, TemplateScope, func(in Input) (string, bool) {
	if problem := MissingPriorityClass(in.Snapshot, in.Options); problem != "" {
		return problem, true
	}
	limit, _ := priorityLimit(in)
	p, known := podPriority(in)
	if !known {
		return fmt.Sprintf("the pod's priority is unknown: the cluster has no PriorityClass %q", in.Pod.Object.Spec.PriorityClassName), true
	}
	if p < limit {
		return "", false
	}
	return fmt.Sprintf("the pod's priority %d is not below %d", p, limit), true
}}

// MissingPriorityClass says that guards.priorityBelow names a PriorityClass that the cluster does not have. It returns
// "" if the cluster has the class, or if the setting is a number.
func MissingPriorityClass(s *cluster.Snapshot, o *Options) string {
	if _, known := priorityLimit(Input{Snapshot: s, Options: o}); known {
		return ""
	}
	return fmt.Sprintf("guards.priorityBelow names PriorityClass %q, which the cluster does not have", o.PriorityBelowName)
}

// priorityLimit returns the lowest priority that guards.priorityBelow protects. It returns false if the
// setting names a PriorityClass that the cluster does not have.
func priorityLimit(in Input) (int32, bool) {
	if name := in.Options.PriorityBelowName; name != "" {
		return classPriority(in, name)
	}
	return in.Options.PriorityBelow, true
}

// podPriority returns the pod's priority. The API server sets spec.priority from the class, but a pod in
// a hand-written snapshot may have only the class. podPriority returns false if the class is unknown.
func podPriority(in Input) (int32, bool) {
	switch spec := &in.Pod.Object.Spec; {
	case spec.Priority != nil:
		return *spec.Priority, true
	case spec.PriorityClassName != "":
		return classPriority(in, spec.PriorityClassName)
	}
	return 0, true
}

// classPriority returns the value of a PriorityClass, or false if the cluster does not have it.
func classPriority(in Input, name string) (int32, bool) {
	switch name {
	case "system-cluster-critical":
		return systemClusterCriticalPriority, true
	case "system-node-critical":
		return systemNodeCriticalPriority, true
	}
	for _, c := range in.Snapshot.Objects.PriorityClasses {
		if c.Name == name {
			return c.Value, true
		}
	}
	return 0, false
}
