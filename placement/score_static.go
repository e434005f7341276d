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
func newFixedScores(w *Cluster, pod *corev1.Pod, added *nodeaffinity.PreferredSchedulingTerms) (StaticScores, error) {
	f := StaticScores{PreferNoSchedule: make([]int64, len(w.Snap.Nodes)), HintTaint: CountUntolerated(steering, pod.Spec.Tolerations)}
	for i := range w.Snap.Nodes {
		f.PreferNoSchedule[i] = CountUntolerated(w.Snap.Nodes[i].Object.Spec.Taints, pod.Spec.Tolerations)
	}
	prefer := func(terms *nodeaffinity.PreferredSchedulingTerms) {
		if f.preferred == nil {
			f.preferred = make([]int64, len(w.Snap.Nodes))
		}
		for i := range w.Snap.Nodes {
			f.preferred[i] += terms.Score(w.NodeObject(i))
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

// CountUntolerated counts the PreferNoSchedule taints that nothing tolerates.
func CountUntolerated(taints []corev1.Taint, tolerations []corev1.Toleration) int64 {
	var count int64
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectPreferNoSchedule &&
			!schedulinghelper.TolerationsTolerateTaint(logr.Discard(), tolerations, &taints[i], comparisonOperators) {
			count++
		}
	}
	return count
}

func scoreTaints(r *Attempt, feasible []cluster.NodeID, out []int64) {
	CountTaints(r, feasible, out)
	normalise(out, maxScore, true)
}

// CountTaints counts untolerated PreferNoSchedule taints, hints among them.
func CountTaints(r *Attempt, feasible []cluster.NodeID, out []int64) {
	f := &r.Replacement.Static
	if f.HintTaint == 0 || !r.Model.Hints.hasTaints() {
		Pick(out, feasible, f.PreferNoSchedule)
		return
	}
	for i, n := range feasible {
		out[i] = f.PreferNoSchedule[n] + f.HintTaint*r.Model.Hints.taint(n)
	}
}

func scoreNodeAffinity(r *Attempt, feasible []cluster.NodeID, out []int64) {
	Pick(out, feasible, r.Replacement.Static.preferred)
	normalise(out, maxScore, false)
}

func scoreImages(r *Attempt, feasible []cluster.NodeID, out []int64) {
	Pick(out, feasible, r.Replacement.Static.images)
}

func scoreVolumes(r *Attempt, feasible []cluster.NodeID, out []int64) {
	Pick(out, feasible, r.Replacement.Volumes.score)
}

// scoreResourcesFit reads the score of NodeResourcesFit.
func scoreResourcesFit(r *Attempt, feasible []cluster.NodeID, out []int64) {
	Pick(out, feasible, r.Replacement.Local.ResourcesFit)
}

// scoreBalanced reads the score of NodeResourcesBalancedAllocation.
func scoreBalanced(r *Attempt, feasible []cluster.NodeID, out []int64) {
	Pick(out, feasible, r.Replacement.Local.Balanced)
}
