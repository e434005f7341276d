package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A workload that is short of pods already should not lose one more for balance.
var workloadDegraded = Rule{plan.WorkloadDegraded, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || w.Replicas < 0 || !in.Options.Protect[ProtectDegraded] {
		return "", false
	}
	ready := 0
	for _, id := range w.Pods {
		if p := &in.Snapshot.Pods[id]; p.Ready && !p.Terminating {
			ready++
		}
	}
	return fmt.Sprintf("%d of %d pods of %s %s are Ready", ready, w.Replicas, w.Kind, w.Name), ready < int(w.Replicas)
}}
