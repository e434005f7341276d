package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// labelsOf returns the labels of a pod by which schedulers select it. A new pod has no label that the API server copies
// from the node. So pods on different nodes are of one class, unless some selector reads these labels.
func labelsOf(m *Cluster, p *cluster.Pod) labels.Set {
	own := p.Object.Labels
	if m.readsCopiedLabels || !hasCopiedLabel(own) {
		return own
	}
	out := labels.Set{}
	for key, value := range own {
		if !isCopiedLabel(key) {
			out[key] = value
		}
	}
	return out
}

// readsCopiedLabels reports whether a selector of a pod, of a Service or of a controller reads labels that the API
// server copies from nodes.
func readsCopiedLabels(m *Cluster) bool {
	for _, list := range m.Services {
		if slices.ContainsFunc(list, func(s *corev1.Service) bool { return hasCopiedLabel(s.Spec.Selector) }) {
			return true
		}
	}
	for _, o := range m.owners {
		if o.Selector != nil && selectsCopiedLabel(o.Selector) {
			return true
		}
	}
	var last *cluster.Template
	for i := range m.Snap.Pods {
		p := &m.Snap.Pods[i]
		if last != nil && p.Template == last {
			continue
		}
		if last = p.Template; podReadsCopiedLabels(&p.Object.Spec) {
			return true
		}
	}
	return false
}

func podReadsCopiedLabels(spec *corev1.PodSpec) bool {
	for i := range spec.TopologySpreadConstraints {
		if t := &spec.TopologySpreadConstraints[i]; namesCopiedLabel(t.LabelSelector, t.MatchLabelKeys) {
			return true
		}
	}
	a := spec.Affinity
	if a == nil {
		return false
	}
	reads := func(t *corev1.PodAffinityTerm) bool {
		return namesCopiedLabel(t.LabelSelector, t.MatchLabelKeys, t.MismatchLabelKeys)
	}
	anyReads := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) bool {
		return slices.ContainsFunc(required, func(t corev1.PodAffinityTerm) bool { return reads(&t) }) ||
			slices.ContainsFunc(preferred, func(t corev1.WeightedPodAffinityTerm) bool { return reads(&t.PodAffinityTerm) })
	}
	return a.PodAffinity != nil && anyReads(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) ||
		a.PodAntiAffinity != nil && anyReads(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
}

// namesCopiedLabel reports whether a selector or one of the lists of keys names a copied label.
func namesCopiedLabel(s *metav1.LabelSelector, keys ...[]string) bool {
	if s != nil && (hasCopiedLabel(s.MatchLabels) || slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return isCopiedLabel(r.Key) })) {
		return true
	}
	return slices.ContainsFunc(keys, func(list []string) bool { return slices.ContainsFunc(list, isCopiedLabel) })
}

func selectsCopiedLabel(s labels.Selector) bool {
	requirements, _ := s.Requirements()
	return slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return isCopiedLabel(r.Key()) })
}

func hasCopiedLabel(set map[string]string) bool {
	return slices.ContainsFunc(cluster.CopiedLabels[:], func(key string) bool { _, has := set[key]; return has })
}

func isCopiedLabel(key string) bool { return slices.Contains(cluster.CopiedLabels[:], key) }
