package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A workload that is short of pods already should not lose one more for balance.
var workloadDegraded = Rule{plan.WorkloadDegraded, workloadScope, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || !in.Options.Protect[ProtectDegraded] {
		return "", false
	}
	n, want := in.numbers(w).available, Desired(w)
	if n >= want {
		return "", false
	}
	return fmt.Sprintf("%d of %d pods of %s %s are available", n, want, w.Kind, w.Name), true
}}
