package placement

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

var steering = []corev1.Taint{hints.Repelling()}

// newFixedScores adds the profile's preferred node affinity to the pod's own.
func newFixedScores(w *clusterState, pod *corev1.Pod, added *nodeaffinity.PreferredSchedulingTerms) (fixedScores, error) {
	f := fixedScores{taints: make([]int64, len(w.snap.Nodes)), hint: disliked(steering, pod.Spec.Tolerations)}
	for i := range w.snap.Nodes {
		f.taints[i] = disliked(w.snap.Nodes[i].Object.Spec.Taints, pod.Spec.Tolerations)
	}
	prefer := func(terms *nodeaffinity.PreferredSchedulingTerms) {
		if f.preferred == nil {
			f.preferred = make([]int64, len(w.snap.Nodes))
		}
		for i := range w.snap.Nodes {
			f.preferred[i] += terms.Score(w.object(i))
		}
	}
	if added != nil {
		prefer(added)
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return f, nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return f, fmt.Errorf("reading the preferred node affinity: %w", err)
	}
	prefer(terms)
	return f, nil
}

// disliked counts the PreferNoSchedule taints that nothing tolerates.
func disliked(taints []corev1.Taint, tolerations []corev1.Toleration) int64 {
	var count int64
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectPreferNoSchedule &&
			!schedulinghelper.TolerationsTolerateTaint(logr.Discard(), tolerations, &taints[i], comparisonOperators) {
			count++
		}
	}
	return count
}

func scoreTaints(r *round, feasible []cluster.NodeID, out []int64) {
	countTaints(r, feasible, out)
	normalise(out, maxScore, true)
}

// countTaints counts untolerated PreferNoSchedule taints, hints among them.
func countTaints(r *round, feasible []cluster.NodeID, out []int64) {
	f := &r.in.fixed
	if f.hint == 0 || r.m.hinted.taints == nil {
		pick(out, feasible, f.taints)
		return
	}
	for i, n := range feasible {
		out[i] = f.taints[n] + f.hint*r.m.hinted.taint(n)
	}
}

func scoreNodeAffinity(r *round, feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.fixed.preferred)
	normalise(out, maxScore, false)
}

func scoreImages(r *round, feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.fixed.images)
}

func scoreVolumes(r *round, feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.vol.score)
}

// scoreResourcesFit reads the score of NodeResourcesFit.
func scoreResourcesFit(r *round, feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.fit.amount)
}

// scoreBalanced reads the score of NodeResourcesBalancedAllocation.
func scoreBalanced(r *round, feasible []cluster.NodeID, out []int64) {
	pick(out, feasible, r.in.fit.even)
}
