package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// goneWeight is the weight of the state "victim already gone" while the victim
// has a grace period: its controller is quick, but not always quicker than a
// victim that ends early.
const goneWeight = 0.1

// Predict foretells where the replacement of the pod would land if the pod were
// evicted now, in this world.
func (w *ClusterModel) Predict(p cluster.PodID) Prediction {
	pr := w.PredictOdds(p)
	for _, s := range [...]*State{&pr.Terminating, &pr.Gone} {
		if s.Fitting.Len() > 0 {
			s.Feasible = slices.AppendSeq(make([]cluster.NodeID, 0, s.Fitting.Len()), s.Fitting.All())
		}
		s.Fitting, s.Winners, s.Odds = NodeSet{}, slices.Clone(s.Winners), slices.Clone(s.Odds)
	}
	return pr
}

// PredictOdds is Predict with the feasible nodes as a set, which costs a fraction
// where there are thousands of nodes. It is good until the world's next prediction.
func (w *ClusterModel) PredictOdds(p cluster.PodID) Prediction {
	why, ok := w.Supported(p)
	if !ok {
		return Prediction{SupportedWhy: why}
	}
	in := w.replacementOf(p)
	pr := Prediction{WeightGone: w.goneProbability(p)}
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
func (w *ClusterModel) predictState(in *Replacement, p cluster.PodID) State {
	r := w.newAttempt(in, p)
	feasible := FeasibleNodes(&r, w.buf.feasible[:0])
	if len(w.Nominated) > 0 {
		feasible = slices.DeleteFunc(feasible, func(n cluster.NodeID) bool { return RefusedBesideNominated(&r, n) != "" })
		r = w.newAttempt(in, p)
	}
	w.buf.feasible = feasible
	if len(feasible) == 0 {
		return State{}
	}
	if size := Size(len(w.Snap.Nodes), in.profile.PercentageOfNodesToScore); size < len(feasible) {
		return w.sampler.Sample(&r, feasible, size, w.randomSampleWeight)
	}
	Score(&r, feasible)
	s := State{Fitting: NewNodeSet(w.Cluster, feasible), Best: slices.Max(w.buf.total)}
	for i, t := range w.buf.total {
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
	if o, ok := w.OwnerOf(pod); grace <= 0 || w.PodNode[p] == cluster.NoNode || ok && o.afterVictim ||
		pod.Controller != nil && pod.Controller.Kind == "StatefulSet" {
		return 1
	}
	return goneWeight
}
