package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	"maps"
)

// RequestsOf returns what a new pod with this spec requests, and what scores
// take it to request. The latter leave out what the pod requests as a whole:
// NodeResourcesFit is not told that such requests exist when it scores a
// newcomer, though it counts them for the pods that stand.
func RequestsOf(p *corev1.Pod) (request, assumed cluster.Resources) {
	opts := resource.PodResourcesOptions{}
	opts.NonMissingContainerRequests, opts.SkipPodLevelResources = nonZeroDefaults, true
	return RequestsOfTemplate(p), cluster.ResourcesOf(resource.PodRequests(p, opts))
}

// RequestsOfTemplate is what a new pod with this spec requests.
func RequestsOfTemplate(p *corev1.Pod) cluster.Resources {
	return cluster.ResourcesOf(resource.PodRequests(p, resource.PodResourcesOptions{}))
}

func EqualResources(a, b cluster.Resources) bool {
	return a.MilliCPU == b.MilliCPU && a.MemoryBytes == b.MemoryBytes && a.EphemeralStorageByte == b.EphemeralStorageByte && maps.Equal(a.Extended, b.Extended)
}
