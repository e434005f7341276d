package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// If a workload has one replica, every eviction interrupts it.
var tooFewReplicas = Rule{plan.TooFewReplicas, WorkloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil {
		return "", false
	}
	n, verb := int(w.Replicas), "wants"
	if n < 0 {
		if !in.isConfiguredController(w) {
			return fmt.Sprintf("the replica count of %s %s is unknown", w.Kind, w.Name), true
		}
		// The controller wants at least the active pods. It may already have replaced the
		// terminating pods.
		n, verb = in.countPods(w).active, "has"
	}
	if n >= in.Options.MinReplicas {
		return "", false
	}
	noun := "replicas"
	if n == 1 {
		noun = "replica"
	}
	return fmt.Sprintf("%s %s %s %d %s, fewer than guards.minReplicas %d", w.Kind, w.Name, verb, n, noun, in.Options.MinReplicas), true
}}
