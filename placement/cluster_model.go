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

// ClusterModel is a snapshot in which pods can be moved while a plan is built. It keeps
// every count that filters and scores need, so a move costs a few additions. It is not
// safe for concurrent use.
type ClusterModel struct {
	*model.Cluster

	opts               Options
	replacements       []*cycle.Replacement // by class number; built on first use
	scorers            map[*scheduler.Compiled][]cycle.Scorer
	images             *score.ImageIndex
	nodeChecks         map[string]*cycle.NodeChecks
	groups             fast.GroupCache
	fast               *fast.Predictor
	disableFast        bool    // tests set it to compare the fast with the full prediction
	randomSampleWeight float64 // share of the probability that assumes a random sample of nodes
	scratch            cycle.Scratch
	sampler            sampling.Sampler
}

// NewClusterModel returns the model of a snapshot.
func NewClusterModel(s *cluster.Snapshot, opts Options) *ClusterModel {
	m := &ClusterModel{
		Cluster:            model.NewCluster(s, opts.Profiles),
		opts:               opts,
		scorers:            map[*scheduler.Compiled][]cycle.Scorer{},
		nodeChecks:         map[string]*cycle.NodeChecks{},
		images:             score.NewImageIndex(s),
		randomSampleWeight: sampling.RandomSampleWeight,
	}
	n := len(m.ClassList)
	m.replacements, m.groups = make([]*cycle.Replacement, n), fast.NewGroupCache(n)
	return m
}
