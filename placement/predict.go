package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"github.com/evenkeel-project/evenkeel/placement/score"
	corev1 "k8s.io/api/core/v1"
)

// goneWeight is the probability that the replacement is scheduled only after a victim
// with a grace period has ended. Controllers create the replacement quickly, but some
// victims end before that.
const goneWeight = 0.1

// Predict predicts where the replacement of the pod would land if the pod were evicted
// now.
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

// PredictOdds is Predict with the feasible nodes as a set, which is much faster with
// thousands of nodes. The result is valid until the model's next prediction.
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

// predictState runs filters and scores in the current state of the model.
func (m *ClusterModel) predictState(in *cycle.Replacement, p cluster.PodID) prediction.State {
	r := m.newAttempt(in, p)
	feasible := filter.FeasibleNodes(&r, m.scratch.Feasible[:0])
	if len(m.Nominated) > 0 {
		feasible = slices.DeleteFunc(feasible, func(n cluster.NodeID) bool { return filter.RefusedWithNominatedPods(&r, n) != "" })
		r = m.newAttempt(in, p)
	}
	m.scratch.Feasible = feasible
	if len(feasible) == 0 {
		return prediction.State{}
	}
	if size := sampling.SampleSize(len(m.Snap.Nodes), in.Profile.PercentageOfNodesToScore); size < len(feasible) {
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

// goneProbability returns the probability that the replacement is scheduled only after
// the victim is gone. It is 1 for a StatefulSet, and for a Job unless its
// podReplacementPolicy is TerminatingOrFailed.
func (m *ClusterModel) goneProbability(p cluster.PodID) float64 {
	pod := &m.Snap.Pods[p]
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	switch own := pod.Object.Spec.TerminationGracePeriodSeconds; {
	case m.opts.GracePeriodSeconds != nil:
		grace = *m.opts.GracePeriodSeconds
	case own != nil:
		grace = *own
	}
	if o, ok := m.OwnerOf(pod); grace <= 0 || m.PodNode[p] == cluster.NoNode || ok && o.WaitsForVictim ||
		pod.Controller != nil && pod.Controller.Kind == "StatefulSet" {
		return 1
	}
	return goneWeight
}
