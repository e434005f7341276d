package guard

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A mirror pod shows in the API a pod that the kubelet runs from a file. An eviction deletes
// only the mirror.
var mirrorPod = Rule{plan.MirrorPod, PodScope, func(in Input) (string, bool) {
	_, mirror := in.Pod.Object.Annotations[corev1.MirrorPodAnnotationKey]
	return "a mirror pod cannot move: the kubelet of its node runs it", mirror
}}
