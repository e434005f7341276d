package model

import (
	"maps"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/resource"
)

// RequestsOf returns the requests of a new pod with this spec, and the requests that scores assume
// for it. The assumed requests leave out pod-level resources: the score of NodeResourcesFit ignores
// pod-level resources of a new pod, but counts them for the pods on nodes.
func RequestsOf(p *corev1.Pod, features kubeversion.Features) (request, assumed cluster.Resources) {
	opts := resource.PodResourcesOptions{}
	opts.NonMissingContainerRequests, opts.SkipPodLevelResources = nonZeroDefaults, true
	return RequestsOfTemplate(p, features), cluster.ResourcesOf(resource.PodRequests(p, opts))
}

// RequestsOfTemplate returns the requests of a new pod with this spec.
func RequestsOfTemplate(p *corev1.Pod, features kubeversion.Features) cluster.Resources {
	opts := resource.PodResourcesOptions{SkipPodLevelResources: !features.PodLevelResources}
	return cluster.ResourcesOf(resource.PodRequests(p, opts))
}

// EqualResources reports whether a and b have the same amount of every resource.
func EqualResources(a, b cluster.Resources) bool {
	return a.MilliCPU == b.MilliCPU && a.MemoryBytes == b.MemoryBytes &&
		a.EphemeralStorageByte == b.EphemeralStorageByte && maps.Equal(a.Extended, b.Extended)
}

// nonZeroDefaults are the requests that scores assume for a container without requests.
var nonZeroDefaults = corev1.ResourceList{
	corev1.ResourceCPU:    resourceapi.MustParse("100m"),
	corev1.ResourceMemory: resourceapi.MustParse("200Mi"),
}
