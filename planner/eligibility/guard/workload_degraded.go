package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A workload with fewer available pods than desired must not lose another one.
var workloadDegraded = Rule{plan.WorkloadDegraded, WorkloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || !in.Options.Protect[ProtectDegraded] {
		return "", false
	}
	available, desired := in.countPods(w).available, Desired(w)
	if available >= desired {
		return "", false
	}
	return fmt.Sprintf("%d of %d pods of %s %s are available", available, desired, w.Kind, w.Name), true
}}
