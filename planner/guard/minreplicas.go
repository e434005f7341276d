package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// With one replica every eviction is an outage of the workload.
var tooFewReplicas = Rule{plan.TooFewReplicas, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil {
		return "", false
	}
	if w.Replicas < 0 {
		return fmt.Sprintf("the replica count of %s %s is not known", w.Kind, w.Name), true
	}
	msg := fmt.Sprintf("%s %s wants %d replicas, fewer than guards.minReplicas %d", w.Kind, w.Name, w.Replicas, in.Options.MinReplicas)
	return msg, int(w.Replicas) < in.Options.MinReplicas
}}
