package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
)

// ClusterModel is a snapshot in which pods can be moved: who stands where while a plan
// is being built. It keeps every count that filters and scores need up to date,
// so a move costs a few additions. It is not safe for concurrent use.
type ClusterModel struct {
	*Cluster

	opts               Options
	replacements       []*Replacement // by class; made on demand
	scorers            map[*Compiled][]Scorer
	images             *ImageIndex
	nodeChecks         map[string]*NodeChecks
	groups             GroupCache
	fast               *Predictor
	fastOff            bool    // nothing is foretold quickly: for comparison
	randomSampleWeight float64 // weight of the odds over every set of nodes where a sample is judged
	buf                Scratch
	sampler            Sampler
}

// NewClusterModel starts a world as the snapshot is.
func NewClusterModel(s *cluster.Snapshot, opts Options) *ClusterModel {
	w := &ClusterModel{
		Cluster:            newCluster(s, opts.Profiles),
		opts:               opts,
		scorers:            map[*Compiled][]Scorer{},
		nodeChecks:         map[string]*NodeChecks{},
		images:             newImageIndex(s),
		randomSampleWeight: RandomSampleWeight,
	}
	n := len(w.ClassList)
	w.replacements, w.groups = make([]*Replacement, n), newGroupCache(n)
	return w
}
