package placement

import (
	"maps"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
)

// Clone returns a copy of the model. Moves and hints in one do not change the other, and
// both may be used at the same time. They share what depends only on the snapshot, and
// the copy keeps the results of each class. It takes O(pods + nodes + classes) time,
// much less than NewClusterModel.
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
