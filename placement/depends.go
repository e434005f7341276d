package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// Relations say which pods depend on a group of pods, and on which pods the group depends. A pod depends on another
// if a required spread constraint, also one that its profile gives it, a required affinity term, or a required
// anti-affinity term by domains of several nodes counts the other. The order in which both are evicted and
// replaced, or the place of the other, can then decide where the pod fits. The zero value is an empty group.
type Relations struct {
	classes []*model.EquivalenceClass  // of the group
	counted map[*model.PodCounter]bool // whether the counter counts a pod of the group; without counters not asked for yet
	counts  map[*model.PodCounter]bool // the counters of the group
}

// Add adds a pod to the group. All calls must name the same model.
func (r *Relations) Add(m *ClusterModel, p cluster.PodID) {
	if r.counted == nil {
		r.counted, r.counts = map[*model.PodCounter]bool{}, map[*model.PodCounter]bool{}
	}
	class := m.Cluster.PodClass[p]
	r.classes = append(r.classes, class)
	class.AnyCounter(func(c *model.PodCounter) bool { r.counted[c] = true; return false })
	for _, c := range m.replacementOf(p).CountersOfOthers {
		r.counts[c] = true
	}
}

// Clear removes all pods from the group.
func (r *Relations) Clear() {
	r.classes = r.classes[:0]
	clear(r.counted)
	clear(r.counts)
}

// Related reports whether the pod depends on a pod of the group, or the reverse.
func (r *Relations) Related(m *ClusterModel, p cluster.PodID) bool {
	return slices.ContainsFunc(m.replacementOf(p).CountersOfOthers, r.isCounted) ||
		len(r.counts) > 0 && m.Cluster.PodClass[p].AnyCounter(func(c *model.PodCounter) bool { return r.counts[c] })
}

// isCounted reports whether the counter counts a pod of the group. The model makes counters when they are needed.
func (r *Relations) isCounted(c *model.PodCounter) bool {
	is, known := r.counted[c]
	if !known && len(r.classes) > 0 {
		is = slices.ContainsFunc(r.classes, func(class *model.EquivalenceClass) bool { return class.CountedBy(c) })
		r.counted[c] = is
	}
	return is
}

// AvoidsPods reports whether a terminating pod on a node can only lower the score of that node for
// the replacement of p: the profile prefers free nodes.
func AvoidsPods(m *ClusterModel, p cluster.PodID) bool {
	profile := m.Cluster.PodClass[p].Profile
	return !profile.ScoresUsage() && profile.FitStrategy.IsDefault()
}
