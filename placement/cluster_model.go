package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/fast"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// ClusterModel is a snapshot in which pods can be moved: who stands where while a plan
// is being built. It keeps every count that filters and scores need up to date,
// so a move costs a few additions. It is not safe for concurrent use.
type ClusterModel struct {
	*model.Cluster

	opts               Options
	replacements       []*cycle.Replacement // by class; made on demand
	scorers            map[*scheduler.Compiled][]cycle.Scorer
	images             *score.ImageIndex
	nodeChecks         map[string]*cycle.NodeChecks
	groups             fast.GroupCache
	fast               *fast.Predictor
	disableFast        bool    // nothing is foretold quickly: for comparison
	randomSampleWeight float64 // weight of the odds over every set of nodes where a sample is judged
	scratch            cycle.Scratch
	sampler            sampling.Sampler
}

// NewClusterModel starts a world as the snapshot is.
func NewClusterModel(s *cluster.Snapshot, opts Options) *ClusterModel {
	w := &ClusterModel{
		Cluster:            model.NewCluster(s, opts.Profiles),
		opts:               opts,
		scorers:            map[*scheduler.Compiled][]cycle.Scorer{},
		nodeChecks:         map[string]*cycle.NodeChecks{},
		images:             score.NewImageIndex(s),
		randomSampleWeight: sampling.RandomSampleWeight,
	}
	n := len(w.ClassList)
	w.replacements, w.groups = make([]*cycle.Replacement, n), fast.NewGroupCache(n)
	return w
}
