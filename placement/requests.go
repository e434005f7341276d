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
	request = cluster.ResourcesOf(resource.PodRequests(p, opts))
	opts.NonMissingContainerRequests, opts.SkipPodLevelResources = assumedRequests, true
	return request, cluster.ResourcesOf(resource.PodRequests(p, opts))
}

// replacementRequests are those of the replacement: the template's, but no less
// than the pod's own. A pod that was resized in place comes back in its old size,
// one that an admission plugin enlarged most likely in the new.
func (w *World) replacementRequests(p *cluster.Pod) (request, assumed cluster.Resources) {
	request, assumed = requestsOf(p.Object)
	o, ok := w.ownerOf(p)
	if !ok || o.template == nil {
		return request, assumed
	}
	r, a := requestsOf(&corev1.Pod{Spec: *o.template})
	return larger(request, r), larger(assumed, a)
}

// larger takes the larger amount of each resource.
func larger(a, b cluster.Resources) cluster.Resources {
	out := cluster.Resources{
		MilliCPU: max(a.MilliCPU, b.MilliCPU), MemoryBytes: max(a.MemoryBytes, b.MemoryBytes),
		EphemeralStorageByte: max(a.EphemeralStorageByte, b.EphemeralStorageByte), Extended: a.Extended,
	}
	for name, n := range b.Extended {
		if n <= out.Extended[name] {
			continue
		}
		if out.Extended = maps.Clone(out.Extended); out.Extended == nil {
			out.Extended = map[corev1.ResourceName]int64{}
		}
		out.Extended[name] = n
	}
	return out
}
