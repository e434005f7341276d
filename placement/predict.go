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

// goneWeight is the weight of the state "victim already gone" while the victim
// has a grace period: its controller is quick, but not always quicker than a
// victim that ends early.
const goneWeight = 0.1

// Predict foretells where the replacement of the pod would land if the pod were
// evicted now, in this world.
func (w *ClusterModel) Predict(p cluster.PodID) prediction.Prediction {
	pr := w.PredictOdds(p)
	for _, s := range [...]*prediction.State{&pr.Terminating, &pr.Gone} {
		if s.FeasibleSet.Len() > 0 {
			s.Feasible = slices.AppendSeq(make([]cluster.NodeID, 0, s.FeasibleSet.Len()), s.FeasibleSet.All())
		}
		s.FeasibleSet, s.Winners, s.Odds = prediction.NodeSet{}, slices.Clone(s.Winners), slices.Clone(s.Odds)
	}
	return pr
}

// PredictOdds is Predict with the feasible nodes as a set, which costs a fraction
// where there are thousands of nodes. It is good until the world's next prediction.
func (w *ClusterModel) PredictOdds(p cluster.PodID) prediction.Prediction {
	why, ok := w.Supported(p)
	if !ok {
		return prediction.Prediction{UnsupportedReason: why}
	}
	in := w.replacementOf(p)
	pr := prediction.Prediction{WeightGone: w.goneProbability(p)}
	if w.predictFast(in, p, &pr) {
		return pr
	}
	inBothStates(w.Cluster, p, func(gone bool) {
		s := w.predictState(in, p)
		if gone {
			pr.Gone = s
		} else {
			pr.Terminating = s
		}
	})
	return pr
}

// predictState runs filters and scores as things stand.
func (w *ClusterModel) predictState(in *cycle.Replacement, p cluster.PodID) prediction.State {
	r := w.newAttempt(in, p)
	feasible := filter.FeasibleNodes(&r, w.scratch.Feasible[:0])
	if len(w.Nominated) > 0 {
		feasible = slices.DeleteFunc(feasible, func(n cluster.NodeID) bool { return filter.RefusedWithNominatedPods(&r, n) != "" })
		r = w.newAttempt(in, p)
	}
	w.scratch.Feasible = feasible
	if len(feasible) == 0 {
		return prediction.State{}
	}
	if size := sampling.Size(len(w.Snap.Nodes), in.Profile.PercentageOfNodesToScore); size < len(feasible) {
		return w.sampler.PredictState(&r, feasible, size, w.randomSampleWeight)
	}
	score.Score(&r, feasible)
	s := prediction.State{FeasibleSet: prediction.NewNodeSet(w.Cluster, feasible), Best: slices.Max(w.scratch.Total)}
	for i, t := range w.scratch.Total {
		if t == s.Best {
			s.Winners = append(s.Winners, feasible[i])
		}
	}
	return s
}

// goneProbability says how likely the replacement is scheduled only after the victim
// is gone. A StatefulSet waits for that, and so does a Job unless its
// podReplacementPolicy is TerminatingOrFailed.
func (w *ClusterModel) goneProbability(p cluster.PodID) float64 {
	pod := &w.Snap.Pods[p]
	grace := int64(corev1.DefaultTerminationGracePeriodSeconds)
	switch own := pod.Object.Spec.TerminationGracePeriodSeconds; {
	case w.opts.GracePeriodSeconds != nil:
		grace = *w.opts.GracePeriodSeconds
	case own != nil:
		grace = *own
	}
	if o, ok := w.OwnerOf(pod); grace <= 0 || w.PodNode[p] == cluster.NoNode || ok && o.WaitsForVictim ||
		pod.Controller != nil && pod.Controller.Kind == "StatefulSet" {
		return 1
	}
	return goneWeight
}
