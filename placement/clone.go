package placement

import (
	"maps"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
)

// Clone returns a copy of the model. Moves and hints in one do not change the other.
// What depends on the snapshot alone is shared, and what is known of each class is
// carried over, so that it costs O(pods + nodes + classes), a fraction of
// NewClusterModel. Both may be used at the same time once it is made.
func (m *ClusterModel) Clone() *ClusterModel {
	c := *m
	c.nodeChecks, c.scorers = maps.Clone(m.nodeChecks), maps.Clone(m.scorers)
	c.groups, c.images = m.groups.Clone(), m.images.Clone()
	c.fast, c.scratch, c.sampler = nil, cycle.Scratch{}, sampling.Sampler{}
	model, copies := m.Cluster.Clone()
	c.Cluster = model
	c.replacements = make([]*cycle.Replacement, len(m.replacements))
	for i, in := range m.replacements {
		if in != nil {
			c.replacements[i] = in.CloneFor(c.ClassList[i], copies)
		}
	}
	return &c
}
