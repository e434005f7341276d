package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// With one replica every eviction is an outage of the workload.
var tooFewReplicas = Rule{plan.TooFewReplicas, workloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil {
		return "", false
	}
	n, what := int(w.Replicas), "wants"
	if n < 0 {
		if !in.vouched(w) {
			return fmt.Sprintf("the replica count of %s %s is not known", w.Kind, w.Name), true
		}
		// What the config vouches for wants at least the pods that stay: one on
		// its way out may be replaced already.
		n, what = in.numbers(w).staying, "has"
	}
	if n >= in.Options.MinReplicas {
		return "", false
	}
	noun := "replicas"
	if n == 1 {
		noun = "replica"
	}
	return fmt.Sprintf("%s %s %s %d %s, fewer than guards.minReplicas %d", w.Kind, w.Name, what, n, noun, in.Options.MinReplicas), true
}}
