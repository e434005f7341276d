package goal

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// MetByLeaving returns those of the requested goals that the pod improves by leaving, although no
// replacement may follow, in ascending order. Only goals for which may returns true count. A
// PodAway with targets needs a landing on one of them.
func MetByLeaving(t *Tracker, pod cluster.PodID, from cluster.NodeID, may func(*plan.Goal) bool) (out []int) {
	for _, i := range t.byPod[pod] {
		g := &t.Goals[i]
		if kinds[g.Kind].metByLeaving && g.Targets == nil && t.Asks(int(i), pod) && may(g) &&
			t.Measures[i].ExcessAfter(pod, from, cluster.NoNode) < t.Excess(int(i)) {
			out = append(out, int(i))
		}
	}
	return out
}

// LeavingHarms reports whether a goal becomes worse if the pod leaves and no replacement follows.
func LeavingHarms(t *Tracker, pod cluster.PodID, from cluster.NodeID) bool {
	return !t.EachAffected(pod, from, cluster.NoNode, func(i int) bool {
		return t.Measures[i].ExcessAfter(pod, from, cluster.NoNode) <= t.Excess(i)
	})
}

// ShareGoal reports whether a goal is about both pods.
func ShareGoal(t *Tracker, a, b cluster.PodID) bool {
	return slices.ContainsFunc(t.byPod[a], func(i int32) bool { return slices.Contains(t.byPod[b], i) })
}
