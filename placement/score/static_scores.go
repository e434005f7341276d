package score

import (
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/evenkeel-project/evenkeel/hints"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// HintTaints contains the taint that a hint puts on a node.
var HintTaints = []corev1.Taint{hints.NewTaint()}

// NewStaticScores computes the scores that no other pod changes. The terms `added` are the
// preferred node affinity of the profile.
func NewStaticScores(w *model.Cluster, pod *corev1.Pod, added *nodeaffinity.PreferredSchedulingTerms) (cycle.StaticScores, error) {
	f := cycle.StaticScores{PreferNoSchedule: make([]int64, len(w.Snap.Nodes)), HintTaint: CountUntolerated(HintTaints, pod.Spec.Tolerations)}
	for i := range w.Snap.Nodes {
		f.PreferNoSchedule[i] = CountUntolerated(w.Snap.Nodes[i].Object.Spec.Taints, pod.Spec.Tolerations)
	}
	prefer := func(terms *nodeaffinity.PreferredSchedulingTerms) {
		if f.Preferred == nil {
			f.Preferred = make([]int64, len(w.Snap.Nodes))
		}
		for i := range w.Snap.Nodes {
			f.Preferred[i] += terms.Score(w.NodeObject(i))
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

// CountUntolerated counts the PreferNoSchedule taints that the tolerations do not cover.
func CountUntolerated(taints []corev1.Taint, tolerations []corev1.Toleration) int64 {
	var count int64
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectPreferNoSchedule &&
			!schedulinghelper.TolerationsTolerateTaint(logr.Discard(), tolerations, &taints[i], scheduler.ComparisonOperators) {
			count++
		}
	}
	return count
}
