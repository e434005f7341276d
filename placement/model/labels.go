package model

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// labelsOf returns the labels of a pod by which schedulers select it: without those that the API server copies from the
// node, which a new pod lacks. So pods on different nodes are of one class. If some selector reads these labels, the
// result has them, and the replacement counts with those of the victim.
func labelsOf(m *Cluster, p *cluster.Pod) labels.Set {
	own := p.Object.Labels
	if m.ReadsCopiedLabels || !hasCopiedLabel(own) {
		return own
	}
	out := maps.Clone(own)
	for _, key := range cluster.CopiedLabels {
		delete(out, key)
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
		if s := o.Selector; s != nil && (hasCopiedLabel(s.MatchLabels) ||
			slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return isCopiedLabel(r.Key) })) {
			return true
		}
	}
	for run := range m.Snap.TemplateRuns() {
		if podReadsCopiedLabels(&run[0].Object.Spec) {
			return true
		}
	}
	return false
}

// podReadsCopiedLabels is readsCopiedLabels for a pod spec. It assumes that an invalid selector reads them.
func podReadsCopiedLabels(spec *corev1.PodSpec) bool {
	for i := range spec.TopologySpreadConstraints {
		t := &spec.TopologySpreadConstraints[i]
		sel, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
		if err != nil || selectsCopiedLabel(sel) || slices.ContainsFunc(t.MatchLabelKeys, isCopiedLabel) {
			return true
		}
	}
	t, err := ReadTerms("", spec.Affinity)
	return err != nil || slices.ContainsFunc(slices.Concat(t.Affinity, t.Anti, t.Preferred),
		func(t AffinityTerm) bool { return selectsCopiedLabel(t.Selector) })
}

func selectsCopiedLabel(s labels.Selector) bool {
	requirements, _ := s.Requirements()
	return slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return isCopiedLabel(r.Key()) })
}

func hasCopiedLabel(set map[string]string) bool {
	return slices.ContainsFunc(cluster.CopiedLabels[:], func(key string) bool { _, has := set[key]; return has })
}

func isCopiedLabel(key string) bool { return slices.Contains(cluster.CopiedLabels[:], key) }
