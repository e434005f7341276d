package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// DependsOnOthers reports whether the places of other pods decide on which nodes the replacement of
// the pod fits: it has a required topology spread constraint, also one that the profile gives it,
// required pod affinity, or required anti-affinity by domains of several nodes.
func (m *ClusterModel) DependsOnOthers(p cluster.PodID) bool {
	return len(m.replacementOf(p).CountersOfOthers) > 0
}

// DependsOn reports whether a required spread constraint or required affinity term of p counts one
// of the others, or a required anti-affinity term by domains of several nodes. If one does, the
// order in which both are evicted and replaced, or the place of the other, can decide where p fits.
func DependsOn(m *ClusterModel, p cluster.PodID, others []cluster.PodID) bool {
	for _, counter := range m.replacementOf(p).CountersOfOthers {
		if slices.ContainsFunc(others, func(q cluster.PodID) bool { return m.Cluster.PodClass[q].CountedBy(counter) }) {
			return true
		}
	}
	return false
}

// AnyDependsOn reports whether one of the others depends on p; see DependsOn.
func AnyDependsOn(m *ClusterModel, others []cluster.PodID, p cluster.PodID) bool {
	class := m.Cluster.PodClass[p]
	for _, q := range others {
		for _, counter := range m.replacementOf(q).CountersOfOthers {
			if class.CountedBy(counter) {
				return true
			}
		}
	}
	return false
}

// AvoidsPods reports whether a terminating pod on a node can only lower the score of that node for
// the replacement of p: the profile prefers free nodes.
func AvoidsPods(m *ClusterModel, p cluster.PodID) bool {
	profile := m.Cluster.PodClass[p].Profile
	return !profile.ScoresUsage() && profile.FitStrategy.IsDefault()
}
