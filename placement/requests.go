package placement

import (
	"maps"

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
	opts.NonMissingContainerRequests, opts.SkipPodLevelResources = assumedRequests, true
	return asks(p), cluster.ResourcesOf(resource.PodRequests(p, opts))
}

// asks is what a new pod with this spec requests.
func asks(p *corev1.Pod) cluster.Resources {
	return cluster.ResourcesOf(resource.PodRequests(p, resource.PodResourcesOptions{}))
}

// resizedSince says of a pod whose spec was changed after it was made, as by a
// resize in place, that its template asks for other resources: which of the two
// the replacement will have cannot be told. A pod as it was admitted comes back
// as it is, whatever admission plugins made of the template.
func (w *clusterState) resizedSince(p *cluster.Pod) string {
	o, ok := w.ownerOf(p)
	if p.Object.Generation <= 1 || !ok || o.template == nil {
		return ""
	}
	c := w.classOf[p.ID]
	if c.wants == nil {
		wants := asks(&corev1.Pod{Spec: *o.template})
		c.wants = &wants
	}
	if equalResources(asks(p.Object), *c.wants) {
		return ""
	}
	return "it was changed after it was made, and its template asks for other resources"
}

func equalResources(a, b cluster.Resources) bool {
	return a.MilliCPU == b.MilliCPU && a.MemoryBytes == b.MemoryBytes && a.EphemeralStorageByte == b.EphemeralStorageByte && maps.Equal(a.Extended, b.Extended)
}
