package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/resource"
)

// assumedRequests are what scores take a container for that requests nothing.
var assumedRequests = corev1.ResourceList{
	corev1.ResourceCPU:    resourceapi.MustParse("100m"),
	corev1.ResourceMemory: resourceapi.MustParse("200Mi"),
}

// requestsOf returns what a new pod with this spec requests, and what scores
// take it to request. The latter leave out what the pod requests as a whole:
// NodeResourcesFit is not told that such requests exist when it scores a
// newcomer, though it counts them for the pods that stand.
func requestsOf(p *corev1.Pod) (request, assumed cluster.Resources) {
	opts := resource.PodResourcesOptions{}
	request = cluster.ResourcesOf(resource.PodRequests(p, opts))
	opts.NonMissingContainerRequests, opts.SkipPodLevelResources = assumedRequests, true
	return request, cluster.ResourcesOf(resource.PodRequests(p, opts))
}
