package goal

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
	"slices"
)

// ServesAll reports whether every requested goal that the pod's leaving could serve
// is served when it then stands on `to`.
func (t *Tracker) ServesAll(pod cluster.PodID, from, to cluster.NodeID) bool {
	return t.EachAffected(pod, from, cluster.NoNode, func(i int) bool {
		return t.Goals[i].Constraint || !t.CouldServe(i, pod, from) || t.Measures[i].ExcessAfter(pod, from, to) < t.Excess(i)
	})
}

// CouldServeNodeAndGroup reports whether the pod's leaving could serve a node and a group.
func (t *Tracker) CouldServeNodeAndGroup(pod cluster.PodID, from cluster.NodeID) bool {
	node, group := false, false
	t.EachAffected(pod, from, cluster.NoNode, func(i int) bool {
		if !t.Goals[i].Constraint && t.CouldServe(i, pod, from) {
			group = group || t.Goals[i].Kind == plan.SkewAtMost
			node = node || t.Goals[i].Kind != plan.SkewAtMost
		}
		return !node || !group
	})
	return node && group
}

// MostServed is the goal of which the move removes the largest weighted share.
func (t *Tracker) MostServed(pod cluster.PodID, from cluster.NodeID, served []int) int {
	best, most := served[0], -1.0
	for _, i := range served {
		share := t.Goals[i].Weight * float64(t.Excess(i)-t.ExcessAfterLeaving(i, pod, from)) / float64(t.InitialExcess[i])
		if share > most {
			best, most = i, share
		}
	}
	return best
}

// usageKnownAt says whether goal i can be served by a pod's going to a node: nobody can
// say of one whose use is unknown that it stays below, and one that no goal is about,
// since it is excluded or out of scope, is not to be overloaded instead.
func (t *Tracker) usageKnownAt(i int, pod cluster.PodID, n cluster.NodeID) bool {
	b, ok := t.Measures[i].(*NodeMeasure)
	return !ok || !b.Amounts.Measure.ByUsage || n == cluster.NoNode || usageKnown(b.Amounts, n) && HasRoom(t.RoomNeededOutsideGoals(pod), n)
}

// CouldServe reports whether leaving `from` can lower the excess of goal g,
// wherever the replacement goes.
func (t *Tracker) CouldServe(g int, pod cluster.PodID, from cluster.NodeID) bool {
	return t.ExcessAfterLeaving(g, pod, from) < t.Excess(g)
}

// ExcessAfterLeaving is the least excess of a goal once the pod stands elsewhere. For
// a skew that depends on where it goes, so the best domain is assumed.
func (t *Tracker) ExcessAfterLeaving(g int, pod cluster.PodID, from cluster.NodeID) int64 {
	k, ok := t.Measures[g].(*SkewMeasure)
	if !ok {
		return t.Measures[g].ExcessAfter(pod, from, cluster.NoNode)
	}
	if from == cluster.NoNode {
		return t.Excess(g)
	}
	return k.ExcessAfterLeaving(from)
}

// BenefitOfLeaving is the candidate's benefit: over all requested goals it could serve, the
// excess removed as a share of what there was at first.
func (t *Tracker) BenefitOfLeaving(pod cluster.PodID, from cluster.NodeID) float64 {
	var sum float64
	t.EachAffected(pod, from, cluster.NoNode, func(i int) bool {
		if g := &t.Goals[i]; !g.Constraint {
			if removed := t.Excess(i) - t.ExcessAfterLeaving(i, pod, from); removed > 0 {
				sum += g.Weight * float64(removed) / float64(t.InitialExcess[i])
			}
		}
		return true
	})
	return plan.Round(sum)
}

// Served lists the requested goals that moving the pod improves.
func (t *Tracker) Served(pod cluster.PodID, from, to cluster.NodeID) []int {
	var out []int
	t.EachAffected(pod, from, to, func(i int) bool {
		if !t.Goals[i].Constraint && t.Measures[i].ExcessAfter(pod, from, to) < t.Measures[i].Excess() && t.usageKnownAt(i, pod, to) {
			out = append(out, i)
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// ExcessChange is what a move adds to the shares of requested goals' excess at first, times
// their weights.
func (t *Tracker) ExcessChange(pod cluster.PodID, from, to cluster.NodeID) (sum float64) {
	t.EachAffected(pod, from, to, func(i int) bool {
		if g := &t.Goals[i]; !g.Constraint {
			sum += float64(g.Weight * float64(t.Measures[i].ExcessAfter(pod, from, to)-t.Excess(i)) / float64(t.InitialExcess[i]))
		}
		return true
	})
	return sum
}
