package cluster

import (
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

// defaultScoreRequests lists the requests that the scheduler's scores assume for a container
// without requests (k8s.io/kubernetes/pkg/scheduler/util, since 1.0).
var defaultScoreRequests = corev1.ResourceList{
	corev1.ResourceCPU:    resourceapi.MustParse("100m"),
	corev1.ResourceMemory: resourceapi.MustParse("200Mi"),
}

// effectiveRequests returns the requests that the scheduler counts for a pod on a node. They include
// init containers, sidecars, overhead, pod-level resources and resizes in progress. nonZero also
// includes the default requests that the scheduler's scores assume.
func effectiveRequests(p *corev1.Pod, features *kubeversion.Features) (exact, nonZero Resources) {
	p, opts := requestOptions(p, features)
	list := resource.PodRequests(p, opts)
	opts.NonMissingContainerRequests = defaultScoreRequests
	if features.PodLevelResources && resource.IsPodLevelRequestsSet(p) { // such a pod gets defaults only for resources that nothing requests
		opts.NonMissingContainerRequests = maps.Clone(defaultScoreRequests)
		maps.DeleteFunc(opts.NonMissingContainerRequests, func(name corev1.ResourceName, _ resourceapi.Quantity) bool {
			_, given := list[name]
			return given
		})
	}
	return ResourcesOf(list), ResourcesOf(resource.PodRequests(p, opts))
}

// RequestsOnNode returns the requests that count for a pod on a node in a version of Kubernetes.
func RequestsOnNode(p *corev1.Pod, features kubeversion.Features) corev1.ResourceList {
	p, opts := requestOptions(p, &features)
	return resource.PodRequests(p, opts)
}

// LimitsOnNode returns the limits that count for a pod on a node in a version of Kubernetes.
func LimitsOnNode(p *corev1.Pod, features kubeversion.Features) corev1.ResourceList {
	p, opts := requestOptions(p, &features)
	return resource.PodLimits(p, opts)
}

// requestOptions returns the options for the helpers of Kubernetes 1.37 that make them compute like
// another version, and the pod to give to them.
func requestOptions(p *corev1.Pod, features *kubeversion.Features) (*corev1.Pod, resource.PodResourcesOptions) {
	opts := resource.PodResourcesOptions{UseStatusResources: features.ResizeByPod,
		InPlacePodLevelResourcesVerticalScalingEnabled: features.PodLevelStatuses,
		SkipPodLevelResources:                          !features.PodLevelResources}
	if !features.ResizeByPod {
		p = withLargestRequests(p, features)
	}
	return p, opts
}

// sameRequestInputs reports whether everything that effectiveRequests reads is equal in both
// pods. It returns false if a resize of either pod is pending.
func sameRequestInputs(p, q *corev1.Pod) bool {
	return sameContainers(p.Spec.Containers, q.Spec.Containers) && sameContainers(p.Spec.InitContainers, q.Spec.InitContainers) &&
		sameStatuses(p.Status.ContainerStatuses, q.Status.ContainerStatuses) &&
		sameStatuses(p.Status.InitContainerStatuses, q.Status.InitContainerStatuses) &&
		sameRequests(p.Spec.Resources, q.Spec.Resources) && sameRequests(p.Status.Resources, q.Status.Resources) &&
		sameResourceList(p.Status.AllocatedResources, q.Status.AllocatedResources) && sameResourceList(p.Spec.Overhead, q.Spec.Overhead) &&
		!hasPendingResize(p) && !hasPendingResize(q)
}

func hasPendingResize(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodResizePending })
}

func sameContainers(a, b []corev1.Container) bool {
	if sameArray(a, b) {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	for i := range a { // a container is too large to be copied
		x, y := &a[i], &b[i]
		if x.Name != y.Name || !sameResourceList(x.Resources.Requests, y.Resources.Requests) ||
			ptr.Deref(x.RestartPolicy, "") != ptr.Deref(y.RestartPolicy, "") { // "Always" makes a sidecar
			return false
		}
	}
	return true
}

func sameStatuses(a, b []corev1.ContainerStatus) bool {
	return slices.EqualFunc(a, b, func(x, y corev1.ContainerStatus) bool {
		return x.Name == y.Name && sameResourceList(x.AllocatedResources, y.AllocatedResources) && sameRequests(x.Resources, y.Resources)
	})
}

func sameRequests(a, b *corev1.ResourceRequirements) bool {
	return a == b || a != nil && b != nil && sameResourceList(a.Requests, b.Requests)
}

// sameResourceList compares two lists. A nil list differs from an empty one.
func sameResourceList(a, b corev1.ResourceList) bool {
	return (a == nil) == (b == nil) && maps.EqualFunc(a, b, func(x, y resourceapi.Quantity) bool { return x.Cmp(y) == 0 })
}
