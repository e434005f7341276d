package placement

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"maps"
)

// Clone returns a copy of the model. Moves and hints in one do not change the other.
// What depends on the snapshot alone is shared, and what is known of each class is
// carried over, so that it costs O(pods + nodes + classes), a fraction of
// NewClusterModel. Both may be used at the same time once it is made.
func (w *ClusterModel) Clone() *ClusterModel {
	c := *w
	c.nodeChecks, c.scorers = maps.Clone(w.nodeChecks), maps.Clone(w.scorers)
	c.groups, c.images = w.groups.Clone(), w.images.Clone()
	c.fast, c.scratch, c.sampler = nil, cycle.Scratch{}, sampling.Sampler{}
	model, copies := w.Cluster.Clone()
	c.Cluster = model
	c.replacements = make([]*cycle.Replacement, len(w.replacements))
	for i, in := range w.replacements {
		if in != nil {
			c.replacements[i] = in.CloneFor(c.ClassList[i], copies)
		}
	}
	return &c
}
