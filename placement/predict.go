package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/fast"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
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
		if s.FeasibleSet.Len() > 0 {
			s.Feasible = slices.AppendSeq(make([]cluster.NodeID, 0, s.FeasibleSet.Len()), s.FeasibleSet.All())
		}
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
	in := m.replacementOf(p)
	pr := prediction.Prediction{WeightGone: m.goneProbability(p)}
	if m.predictFast(in, p, &pr) {
		return pr
	}
	inBothVictimStates(m.Cluster, p, func(gone bool) {
		s := m.predictState(in, p)
		if gone {
			pr.Gone = s
		} else {
			pr.Terminating = s
		}
	})
	return pr
}

func (m *ClusterModel) predictState(in *cycle.Replacement, p cluster.PodID) prediction.State {
	r := m.newAttempt(in, p)
	feasible := filter.FeasibleNodes(&r, m.scratch.Feasible[:0])
	if len(m.Cluster.Nominated) > 0 {
		feasible = slices.DeleteFunc(feasible, func(n cluster.NodeID) bool { return filter.RefusedWithNominatedPods(&r, n) != "" })
		r = m.newAttempt(in, p)
	}
	m.scratch.Feasible = feasible
	if len(feasible) == 0 {
		return prediction.State{}
	}
	if size := sampling.SampleSize(len(m.Cluster.Snap.Nodes), in.Profile.PercentageOfNodesToScore); size < len(feasible) {
		return m.sampler.PredictState(&r, feasible, size, m.randomSampleWeight)
	}
	score.Score(&r, feasible)
	s := prediction.State{FeasibleSet: prediction.NewNodeSet(m.Cluster, feasible), Best: slices.Max(m.scratch.Total)}
	for i, t := range m.scratch.Total {
		if t == s.Best {
			s.Winners = append(s.Winners, feasible[i])
		}
	}
	return s
}

// ReplacedAfterGone reports whether the controller creates the replacement of the pod only after the
// pod has terminated. A StatefulSet does, and a Job may.
func ReplacedAfterGone(m *ClusterModel, p cluster.PodID) bool {
	pod := &m.Cluster.Snap.Pods[p]
	o, ok := m.Cluster.OwnerOf(pod)
	return ok && o.WaitsForVictim || pod.Controller != nil && pod.Controller.Kind == "StatefulSet"
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

// predictFast predicts both states with the fast predictor, or returns false if the pod needs the
// general prediction. The slices in pr are valid until the next call.
func (w *ClusterModel) predictFast(in *cycle.Replacement, p cluster.PodID, pr *prediction.Prediction) bool {
	if w.disableFast || len(w.Cluster.Nominated) > 0 {
		return false
	}
	if w.fast == nil {
		w.fast = fast.NewPredictor(w.Cluster, &w.groups)
	}
	w.fast.RandomSampleWeight = w.randomSampleWeight
	return w.fast.Predict(in, p, pr)
}

// inBothVictimStates calls f while the victim terminates, then once it is gone. Afterwards,
// inBothVictimStates restores the victim.
func inBothVictimStates(m *model.Cluster, p cluster.PodID, f func(gone bool)) {
	n := m.PodNode[p]
	if n == cluster.NoNode {
		f(false)
		f(true)
		return
	}
	m.AdjustSpread(p, n, -1)
	f(false)
	m.Attachments.VictimNode = n
	m.AdjustUsage(p, n, -1)
	f(true)
	m.Attachments.VictimNode = cluster.NoNode
	m.AdjustUsage(p, n, 1)
	m.AdjustSpread(p, n, 1)
}
