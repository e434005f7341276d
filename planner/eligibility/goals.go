package eligibility

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// SetGoals sets the goals of the plan. Requested goals about single pods change the guards for these pods:
//
//   - A pod that has ended may be removed, although it is terminal.
//   - A pod that is not Ready does not count as unavailable itself, because its eviction takes no working pod away.
//     Other unavailable pods of its workload count, and the pod counts when one of them should leave.
//
// Without a call, no pod has such a goal.
func (v *Checker) SetGoals(goals []plan.Goal) {
	v.removed, v.replaced = map[cluster.PodID]bool{}, map[cluster.PodID]bool{}
	for i := range goals {
		g := &goals[i]
		if g.Kind != plan.PodAway || g.Constraint {
			continue
		}
		switch pod := g.Pods[0]; {
		case g.Removal != "":
			v.removed[pod] = true
		case g.MayReturn && !v.snapshot.Pods[pod].Ready:
			v.replaced[pod] = true
		}
	}
}
