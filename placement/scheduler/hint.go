package scheduler

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/hints"
	corev1 "k8s.io/api/core/v1"
)

// PodReadsHintLabel reports whether the pod's node selector or node affinity reads the hint label.
func PodReadsHintLabel(pod *corev1.Pod) bool {
	if _, ok := pod.Spec.NodeSelector[hints.Key]; ok {
		return true
	}
	a := pod.Spec.Affinity
	return a != nil && a.NodeAffinity != nil && selectsHintLabel(a.NodeAffinity)
}

// ReadsHintLabel reports whether the profile's addedAffinity reads the hint label.
func (p *Compiled) ReadsHintLabel() bool {
	return p.AddedAffinity != nil && selectsHintLabel(p.AddedAffinity)
}

// selectsHintLabel reports whether a term of the node affinity reads the hint label.
func selectsHintLabel(a *corev1.NodeAffinity) bool {
	looks := func(t corev1.NodeSelectorTerm) bool {
		return slices.ContainsFunc(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return r.Key == hints.Key })
	}
	if r := a.RequiredDuringSchedulingIgnoredDuringExecution; r != nil && slices.ContainsFunc(r.NodeSelectorTerms, looks) {
		return true
	}
	return slices.ContainsFunc(a.PreferredDuringSchedulingIgnoredDuringExecution,
		func(t corev1.PreferredSchedulingTerm) bool { return looks(t.Preference) })
}
