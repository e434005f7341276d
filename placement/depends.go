package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
)

// DependsOnOthers reports whether the places of other pods decide on which nodes the replacement of
// the pod fits: it has a required topology spread constraint, also one that the profile gives it,
// required pod affinity, or required anti-affinity by domains of several nodes.
func (m *ClusterModel) DependsOnOthers(p cluster.PodID) bool {
	in := m.replacementOf(p)
	return len(in.Spread.Hard) > 0 || len(in.InterPod.Required) > 0 || slices.ContainsFunc(in.InterPod.Anti, isWiderThanNode)
}

// DependsOn reports whether a required spread constraint or required affinity term of p counts q,
// or a required anti-affinity term by domains of several nodes. If one does, the order in which both
// are evicted and replaced, or the place of q, can decide where p fits.
func (m *ClusterModel) DependsOn(p, q cluster.PodID) bool {
	in, other := m.replacementOf(p), m.PodClass[q]
	return slices.ContainsFunc(in.Spread.Hard, func(c cycle.SpreadConstraint) bool { return other.CountedBy(c.Pods) }) ||
		slices.ContainsFunc(in.InterPod.Required, func(t cycle.TermWithTopology) bool { return other.CountedBy(t.Pods) }) ||
		slices.ContainsFunc(in.InterPod.Anti, func(t cycle.TermWithTopology) bool { return isWiderThanNode(t) && other.CountedBy(t.Pods) })
}

func isWiderThanNode(t cycle.TermWithTopology) bool { return !t.Topology.OneNodePerDomain }

// AvoidsPods reports whether a terminating pod on a node can only lower the score of that node for
// the replacement of p: the profile prefers free nodes.
func AvoidsPods(m *ClusterModel, p cluster.PodID) bool {
	profile := m.PodClass[p].Profile
	return profile.Policy == nil && profile.Packing == nil && profile.FitStrategy.IsDefault()
}
