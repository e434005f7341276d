package goal

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// ImprovesAll reports whether a move to `to` improves every requested goal that the eviction could improve.
func (t *Tracker) ImprovesAll(pod cluster.PodID, from, to cluster.NodeID) bool {
	return t.EachAffected(pod, from, cluster.NoNode, func(i int) bool {
		return !t.Asks(i, pod) || !t.CouldImprove(i, pod, from) || excessChange(t, i, pod, from, to) < 0
	})
}

// MostImproved returns the goal in the list that loses the largest weighted share of its initial
// excess by the eviction. Of equal shares, the first in the list wins. The list must be in
// ascending order, so the strategy whose name comes first wins.
func (t *Tracker) MostImproved(pod cluster.PodID, from cluster.NodeID, goals []int) int {
	best, most := goals[0], -1.0
	for _, i := range goals {
		share := t.Goals[i].Weight * float64(t.Excess(i)-t.ExcessAfterLeaving(i, pod, from)) / float64(t.InitialExcess[i])
		if share > most {
			best, most = i, share
		}
	}
	return best
}

// fitsUnderTarget reports whether node n may take the pod as far as the amount that goal i limits is concerned: the
// usage of n must be known, and n must stay below the limit if no goal is about n. Other kinds of goals allow any node.
func (t *Tracker) fitsUnderTarget(i int, pod cluster.PodID, n cluster.NodeID) bool {
	b, ok := t.Measures[i].(*NodeMeasure)
	if !ok || t.roomOutsideGoals[b.Amounts].byNode == nil || n == cluster.NoNode {
		return true
	}
	return usageKnown(b.Amounts, n) && HasRoom(t.RoomNeededOutsideGoals(pod, t.Goals[i].Strategy), n)
}

// CouldImprove reports whether the eviction can lower the excess of goal g. CouldImprove assumes the best target.
func (t *Tracker) CouldImprove(g int, pod cluster.PodID, from cluster.NodeID) bool {
	excess := t.Excess(g)
	return excess > 0 && t.ExcessAfterLeaving(g, pod, from) < excess
}

// ExcessAfterLeaving returns the least excess of goal g after the pod leaves `from`, with the best target.
func (t *Tracker) ExcessAfterLeaving(g int, pod cluster.PodID, from cluster.NodeID) int64 {
	return t.Measures[g].ExcessAfterLeaving(pod, from)
}

// WorthOfLeaving returns the largest possible benefit of the eviction: the removed share of the initial excess,
// weighted and summed over all requested goals. The second result says whether the eviction could improve both a node
// goal and a group goal.
func (t *Tracker) WorthOfLeaving(pod cluster.PodID, from cluster.NodeID) (benefit float64, nodeAndGroup bool) {
	if t.leaving == nil {
		t.leaving, t.changedAt = make([]leaving, len(t.Snapshot.Pods)), make([]int, len(t.Goals))
	}
	known := &t.leaving[pod]
	unchanged := func(i int) bool { return t.changedAt[i] < known.moved }
	if known.from == from && known.moved > t.askedAt && t.EachAffected(pod, from, cluster.NoNode, unchanged) {
		return known.benefit, known.nodeAndGroup
	}
	node, group := false, false
	t.EachAffected(pod, from, cluster.NoNode, func(i int) bool {
		if excess := t.Excess(i); excess > 0 && t.Asks(i, pod) { // most goals of a pod are met
			if removed := excess - t.ExcessAfterLeaving(i, pod, from); removed > 0 {
				g := &t.Goals[i]
				benefit += g.Weight * float64(removed) / float64(t.InitialExcess[i])
				group, node = group || t.kinds[i].group, node || !t.kinds[i].group
			}
		}
		return true
	})
	*known = leaving{t.moved + 1, from, benefit, node && group}
	return benefit, node && group
}

// ImprovedGoals returns the goals that the move serves and improves, in ascending order; see Asks.
func (t *Tracker) ImprovedGoals(pod cluster.PodID, from, to cluster.NodeID) []int {
	var out []int
	t.EachAffected(pod, from, to, func(i int) bool {
		if t.Asks(i, pod) && excessChange(t, i, pod, from, to) < 0 && t.fitsUnderTarget(i, pod, to) {
			out = append(out, i)
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// excessChange returns the change in the excess of goal i by the move. Negative values are
// improvements; a landing that the goal does not count is none.
func excessChange(t *Tracker, i int, pod cluster.PodID, from, to cluster.NodeID) int64 {
	change := t.Measures[i].ExcessAfter(pod, from, to) - t.Excess(i)
	if change < 0 && !t.Measures[i].CountsLanding(to) {
		return 0
	}
	return change
}

// ExcessChange returns the change in the weighted sum of excess over all requested goals, each as a share of its
// initial excess. Negative values are improvements.
func (t *Tracker) ExcessChange(pod cluster.PodID, from, to cluster.NodeID) (sum float64) {
	t.EachAffected(pod, from, to, func(i int) bool {
		if g := &t.Goals[i]; t.Asks(i, pod) {
			sum += float64(g.Weight * float64(excessChange(t, i, pod, from, to)) / float64(t.InitialExcess[i]))
		}
		return true
	})
	return sum
}
