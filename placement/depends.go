package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
)

// DependsOnOthers reports whether the places of other pods decide on which nodes the replacement of
// the pod fits: it has a required topology spread constraint, also one that the profile gives it,
// or required pod affinity.
func (m *ClusterModel) DependsOnOthers(p cluster.PodID) bool {
	in := m.replacementOf(p)
	return len(in.Spread.Hard) > 0 || len(in.InterPod.Required) > 0
}

// DependsOn reports whether a required spread constraint or required affinity term of p counts q.
// If it does, the order in which both are evicted and replaced can decide where p fits.
func (m *ClusterModel) DependsOn(p, q cluster.PodID) bool {
	in, other := m.replacementOf(p), m.PodClass[q]
	return slices.ContainsFunc(in.Spread.Hard, func(c cycle.SpreadConstraint) bool { return other.CountedBy(c.Pods) }) ||
		slices.ContainsFunc(in.InterPod.Required, func(t cycle.TermWithTopology) bool { return other.CountedBy(t.Pods) })
}

// AvoidsPods reports whether a terminating pod on a node can only lower the score of that node for
// the replacement of p: the profile prefers free nodes.
func AvoidsPods(m *ClusterModel, p cluster.PodID) bool {
	profile := m.PodClass[p].Profile
	return profile.Policy == nil && profile.Packing == nil && profile.FitStrategy.IsDefault()
}
