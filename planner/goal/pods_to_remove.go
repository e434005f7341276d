package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// PodsToRemove returns the pods that have ended and that requested goals ask to remove.
func PodsToRemove(goals []plan.Goal) map[cluster.PodID]bool {
	out := map[cluster.PodID]bool{}
	for i := range goals {
		if g := &goals[i]; g.Kind == plan.PodAway && g.Removal != "" && !g.Constraint {
			out[g.Pods[0]] = true
		}
	}
	return out
}
