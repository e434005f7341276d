package guard

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/plan"
)

// A mirror pod is the API server's image of a pod that the kubelet runs from a
// file; evicting the image does not move the pod.
var mirrorPod = Rule{plan.MirrorPod, podScope, func(in Input) (string, bool) {
	_, mirror := in.Pod.Object.Annotations[corev1.MirrorPodAnnotationKey]
	return "a mirror pod is run by its kubelet and cannot move", mirror
}}
