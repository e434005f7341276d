package guard

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// A workload that is short of pods already should not lose one more for balance.
var workloadDegraded = Rule{plan.WorkloadDegraded, func(in Input) (string, bool) {
	w := in.Snapshot.WorkloadOf(in.Pod)
	if w == nil || !in.Options.Protect[ProtectDegraded] {
		return "", false
	}
	ready, want := ReadyOf(in.Snapshot, w), Desired(w)
	return fmt.Sprintf("%d of %d pods of %s %s are Ready", ready, want, w.Kind, w.Name), ready < want
}}

// ReadyOf counts the Ready pods of a workload that are not on their way out.
func ReadyOf(s *cluster.Snapshot, w *cluster.Workload) int {
	n := 0
	for _, id := range w.Pods {
		if p := &s.Pods[id]; p.Ready && !p.Terminating {
			n++
		}
	}
	return n
}
