package guard

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Somebody paused the workload, usually to change it step by step or to look into a failure, and
// expects it to stay as it is. The ReplicaSets of a paused Deployment still replace pods; other
// paused controllers do not.
var workloadPaused = Rule{plan.WorkloadPaused, WorkloadScope, func(in Input) (string, bool) {
	for _, o := range in.Pod.Owners {
		if d, ok := o.(*appsv1.Deployment); ok && d.Spec.Paused {
			return fmt.Sprintf("Deployment %s is paused (spec.paused)", d.Name), true
		}
	}
	paused := in.podAnnotations().Paused
	return joinCauses(paused), len(paused) > 0
}}
