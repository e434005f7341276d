package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// If a workload has more pods than desired, its controller is about to delete some and does not
// replace an evicted pod. A rollout with maxSurge also has more pods than desired; the rule
// RolloutInProgress refuses it.
var scalingDown = Rule{plan.ScalingDown, WorkloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || w.Replicas < 0 {
		return "", false
	}
	n := in.countPods(w).active
	if n <= int(w.Replicas) || hasTwoTemplates(in) {
		return "", false
	}
	return fmt.Sprintf("%s %s has %d pods and wants %d", w.Kind, w.Name, n, w.Replicas), true
}}
