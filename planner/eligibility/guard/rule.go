package guard

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Desired is how many pods a workload wants. Of a kind that is not read it is
// the pods that are there, those on their way out included: then each of them
// that is not Ready is missing.
func Desired(w *cluster.Workload) int {
	if w.Replicas >= 0 {
		return int(w.Replicas)
	}
	return len(w.Pods)
}

// vouched reports whether guards.controllers names the workload's kind.
func (in Input) vouched(w *cluster.Workload) bool {
	return slices.Contains(in.Options.Controllers, groupKind(w.APIVersion, w.Kind))
}

// staying counts the pods of a workload that are not on their way out.
func staying(s *cluster.Snapshot, w *cluster.Workload) int {
	n := 0
	for _, id := range w.Pods {
		if !s.Pods[id].Terminating {
			n++
		}
	}
	return n
}
