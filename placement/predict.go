package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/fast"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// goneWeight is the probability that a victim with a grace period has ended before its replacement
// is scheduled. Controllers create replacements quickly, but some victims end earlier.
const goneWeight = 0.1

// Predict predicts where the replacement of the pod would land if the pod were evicted now.
func (m *ClusterModel) Predict(p cluster.PodID) prediction.Prediction {
	pr := m.PredictOdds(p)
	for _, s := range [...]*prediction.State{&pr.Terminating, &pr.Gone} {
		s.Feasible = s.FeasibleSet.Append(nil)
		s.FeasibleSet, s.Winners, s.Odds = prediction.NodeSet{}, slices.Clone(s.Winners), slices.Clone(s.Odds)
	}
	return pr
}

// PredictOdds works like Predict, but returns the feasible nodes as a set. A set is much faster
// with thousands of nodes. The result is valid until the model's next prediction.
func (m *ClusterModel) PredictOdds(p cluster.PodID) prediction.Prediction {
	why, ok := m.Supported(p)
	if !ok {
		return prediction.Prediction{UnsupportedReason: why}
	}
	pr := prediction.Prediction{WeightGone: m.goneProbability(p)}
	m.predictor().Predict(m.replacementOf(p), p, &pr)
	return pr
}

// PossibleWinners returns nodes of which bounds of scores prove that the replacement of p, which leaves from, lands on
// one of them; see fast.Predictor.PossibleWinners. The pod must be supported.
func (m *ClusterModel) PossibleWinners(p cluster.PodID, from cluster.NodeID) (nodes prediction.NodeSet, ok bool) {
	return m.predictor().PossibleWinners(m.replacementOf(p), p, from)
}

// FeasibleOnceGone returns the nodes that pass every filter once the victim is gone, as
// prediction.State.FeasibleSet. It is valid until the model's next prediction. The pod must be supported.
func (m *ClusterModel) FeasibleOnceGone(p cluster.PodID) prediction.NodeSet {
	return m.predictor().Feasible(m.replacementOf(p), p)
}

// ReplacedAfterGone reports whether the controller creates the replacement of the pod only after the
// pod has terminated. A StatefulSet does, and a Job may.
func ReplacedAfterGone(m *ClusterModel, p cluster.PodID) bool {
	c := m.Cluster.PodClass[p] // nil for a pod that has ended, which nothing replaces
	return c != nil && c.ReplacedAfterGone
}

// goneProbability returns the probability that the replacement is scheduled only after the victim
// is gone.
func (m *ClusterModel) goneProbability(p cluster.PodID) float64 {
	pod := &m.Cluster.Snap.Pods[p]
	grace := ptr.Deref(pod.Object.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	grace = ptr.Deref(m.opts.GracePeriodSeconds, grace)
	if grace <= 0 || m.Cluster.PodNode[p] == cluster.NoNode || ReplacedAfterGone(m, p) {
		return 1
	}
	return goneWeight
}

// predictor returns the model's predictor, and builds it on first use.
func (m *ClusterModel) predictor() *fast.Predictor {
	if m.fast == nil {
		m.fast = fast.NewPredictor(m.Cluster, &m.groups)
		m.fast.RandomSampleWeight = m.randomSampleWeight
	}
	return m.fast
}

// NodeVerdict is the result of filters and scores for one node in one state of the victim.
type NodeVerdict struct {
	Node cluster.NodeID
	Gone bool // true: the victim is gone; false: it terminates
	// RefusedBy is the first filter that refuses the node; empty if none does.
	RefusedBy scheduler.Filter
	Why       string // a sentence; empty when the node is feasible
	Scores    []PluginScore
	Total     int64
}

// PluginScore is the score that one plugin gives a node.
type PluginScore struct {
	Plugin     string
	Normalised int64 // 0 to 100; 0 if the plugin does not score this pod
	Weight     int64
}

// Explain returns filter and score results of every node for the pod's replacement: first while the
// victim terminates, then once the victim is gone. Both parts are sorted by node. The scores
// compare all feasible nodes, even where the scheduler only scores a sample of them. Explain
// returns nil if the pod is not supported.
func (m *ClusterModel) Explain(p cluster.PodID) []NodeVerdict {
	if _, ok := m.Supported(p); !ok {
		return nil
	}
	in := m.replacementOf(p)
	var out []NodeVerdict
	m.Cluster.InBothVictimStates(p, func(gone bool) {
		refused, from := m.rejections(in, p), len(out)
		r := cycle.NewAttempt(m.Cluster, &m.scratch, in, p)
		for n, by := range refused {
			out = append(out, NodeVerdict{Node: cluster.NodeID(n), Gone: gone, RefusedBy: by})
			if by != "" {
				out[from+n].Why = filter.RefusalMessage(&r, n, by)
			}
		}
		m.predictor().ScoreFeasible(in, p, func(n cluster.NodeID, s *score.Plugin, value int64) {
			x := &out[from+int(n)]
			x.Scores = append(x.Scores, PluginScore{s.Name, value, s.Weight})
			x.Total += s.Weight * value
		})
	})
	return out
}
