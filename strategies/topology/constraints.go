package topology

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// nodeConstraints returns a key for what target.Targets.CanRunFunc reads of a pod. targets is the target.Pods.Number of
// the pod. Two pods with equal keys can run on the same nodes.
func nodeConstraints(s *corev1.PodSpec, targets int) string {
	return string(AppendTolerations(AppendNodeAffinity(strconv.AppendInt(nil, int64(targets), 10), s), s))
}

// AppendNodeAffinity appends a key for the node selector and the required node affinity of a pod. Pods with equal keys
// match the same nodes.
func AppendNodeAffinity(b []byte, s *corev1.PodSpec) []byte {
	if len(s.NodeSelector) > 0 {
		for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
			b = strconv.AppendQuote(strconv.AppendQuote(b, key), s.NodeSelector[key])
		}
	}
	if affinity := s.Affinity; affinity != nil && affinity.NodeAffinity != nil &&
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		for i := range terms {
			b = append(b, "\na"...)
			b = appendRequirements(b, 'e', terms[i].MatchExpressions)
			b = appendRequirements(b, 'f', terms[i].MatchFields)
		}
		b = append(b, "\nrequired"...) // a required affinity without terms matches no node
	}
	return b
}

// AppendTolerations appends a key for the tolerations of a pod. Pods with equal keys tolerate the same taints.
func AppendTolerations(b []byte, s *corev1.PodSpec) []byte {
	for i := range s.Tolerations {
		t := &s.Tolerations[i]
		b = strconv.AppendQuote(append(b, "\nt"...), t.Key)
		b = strconv.AppendQuote(append(b, t.Operator...), t.Value)
		b = append(b, t.Effect...)
	}
	return b
}

func appendRequirements(b []byte, mark byte, list []corev1.NodeSelectorRequirement) []byte {
	for i := range list {
		b = strconv.AppendQuote(append(b, mark), list[i].Key)
		b = append(b, list[i].Operator...)
		for _, v := range list[i].Values {
			b = strconv.AppendQuote(b, v)
		}
	}
	return b
}
