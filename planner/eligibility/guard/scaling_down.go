package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// With more pods than are wanted the controller is about to delete some, and
// nothing would replace an evicted one. A Deployment that rolls out has more than
// it wants too (maxSurge): that is for rolloutInProgress to say.
var scalingDown = Rule{plan.ScalingDown, workloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || w.Replicas < 0 {
		return "", false
	}
	there := in.numbers(w).staying
	if there <= int(w.Replicas) || surging(in) {
		return "", false
	}
	return fmt.Sprintf("%s %s has %d pods and wants %d", w.Kind, w.Name, there, w.Replicas), true
}}
