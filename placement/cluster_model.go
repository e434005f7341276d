package placement

import (
	"maps"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/fast"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// ClusterModel is a snapshot in which the planner can move pods. The model keeps every count that
// filters and scores need, so a move costs a few additions. A ClusterModel is not safe for
// concurrent use.
type ClusterModel struct {
	Cluster *model.Cluster

	opts               Options
	replacements       []*cycle.Replacement // by class number; built on first use
	images             *score.ImageIndex
	nodeChecks         map[string]*cycle.NodeChecks
	groups             fast.GroupCache
	fast               *fast.Predictor
	randomSampleWeight float64 // share of the probability that assumes a random sample of nodes
	scratch            cycle.Scratch
}

// NewClusterModel returns the model of a snapshot.
func NewClusterModel(s *cluster.Snapshot, opts Options) *ClusterModel {
	m := &ClusterModel{
		Cluster:            model.NewCluster(s, opts.Profiles),
		opts:               opts,
		nodeChecks:         map[string]*cycle.NodeChecks{},
		images:             score.NewImageIndex(s),
		randomSampleWeight: fast.RandomSampleWeight,
	}
	n := len(m.Cluster.ClassList)
	m.replacements, m.groups = make([]*cycle.Replacement, n), fast.NewGroupCache(n)
	return m
}

// Options describe the schedulers that place the cluster's pods.
type Options struct {
	// Profiles are the schedulers' profiles by schedulerName. Without an entry, default-scheduler
	// has DefaultProfile. Pods of other schedulers without an entry are not supported.
	Profiles map[string]scheduler.Profile
	// GracePeriodSeconds is the grace period that evictions request; nil: each pod's own grace
	// period.
	GracePeriodSeconds *int64
}

// Clone returns a copy of the model. Moves and hints in the copy do not change the original, and
// the reverse. Different goroutines may use the original and the copy. The copy shares the data
// that depends only on the snapshot. Clone takes O(pods + nodes + classes) time, much less than
// NewClusterModel.
func (m *ClusterModel) Clone() *ClusterModel {
	c := *m
	c.nodeChecks = maps.Clone(m.nodeChecks)
	c.groups, c.images = m.groups.Clone(), m.images.Clone()
	c.fast, c.scratch = nil, cycle.Scratch{}
	model, copies := m.Cluster.Clone()
	c.Cluster = model
	c.replacements = make([]*cycle.Replacement, len(m.replacements))
	for i, in := range m.replacements {
		if in != nil {
			c.replacements[i] = in.CloneFor(c.Cluster.ClassList[i], copies)
		}
	}
	return &c
}

// SetHints replaces the model's steering hints by hints of this kind on exactly these nodes. The
// hints of the snapshot remain. A taint changes the score of TaintToleration. A label changes the
// score of NodeAffinity, and, if a pod requires it, the feasible nodes.
func (m *ClusterModel) SetHints(kind hints.Kind, nodes []cluster.NodeID) {
	if len(nodes) == 0 && m.Cluster.Hints.IsEmpty() {
		return
	}
	wasLabelled := m.Cluster.Hints.HasLabels()
	m.groups.Clear()
	m.Cluster.Hints = model.NewSteeringHints(m.Cluster.Snap, kind, nodes)
	if wasLabelled || m.Cluster.Hints.HasLabels() {
		clear(m.nodeChecks)
		for _, c := range m.Cluster.ClassList {
			if c.Profile.ReadsHintLabel(c.Sample.Object) {
				m.replacements[c.Number] = nil // its node affinity must be matched again
			}
		}
	}
}

// RespondsToHint reports whether a hint of the kind can change the placement of the pod's
// replacement, because the pod does not tolerate the taint or reads the label.
func (m *ClusterModel) RespondsToHint(p cluster.PodID, kind hints.Kind) bool {
	pod := m.Cluster.Snap.Pods[p].Object
	profile := m.Cluster.ProfileOf(pod.Spec.SchedulerName)
	switch kind {
	case hints.Taint:
		return profile.Weights.TaintToleration > 0 && score.CountUntolerated(score.HintTaints, pod.Spec.Tolerations) > 0
	case hints.Label:
		return profile.ReadsHintLabel(pod)
	}
	return false
}
