package guard

import (
	"fmt"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
)

// With one replica every eviction is an outage of the workload.
var tooFewReplicas = Rule{plan.TooFewReplicas, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil {
		return "", false
	}
	n, what := int(w.Replicas), "wants"
	if n < 0 {
		if !slices.Contains(in.Options.Controllers, groupKind(w.APIVersion, w.Kind)) {
			return fmt.Sprintf("the replica count of %s %s is not known", w.Kind, w.Name), true
		}
		n, what = len(w.Pods), "has" // what the config vouches for wants at least these
	}
	msg := fmt.Sprintf("%s %s %s %d replicas, fewer than guards.minReplicas %d", w.Kind, w.Name, what, n, in.Options.MinReplicas)
	return msg, n < in.Options.MinReplicas
}}
