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

// DefaultScoreRequests lists the requests that the scheduler's scores assume for a container
// without requests (k8s.io/kubernetes/pkg/scheduler/util, since 1.0).
var DefaultScoreRequests = corev1.ResourceList{
	corev1.ResourceCPU:    resourceapi.MustParse("100m"),
	corev1.ResourceMemory: resourceapi.MustParse("200Mi"),
}

// effectiveRequests returns the requests that the scheduler counts for a pod on a node. They include
// init containers, sidecars, overhead, pod-level resources and resizes in progress. nonZero also
// includes the default requests that the scheduler's scores assume.
func effectiveRequests(p *corev1.Pod, features *kubeversion.Features) (exact, nonZero Resources) {
	agrees, opts := statusAgrees(p), requestOptions(features)
	if agrees { // then it need not be read
		opts.UseStatusResources = false
	} else {
		p = withStatus(p, features)
	}
	list := resource.PodRequests(p, opts)
	if exact = ResourcesOf(list); agrees && requestAll(p.Spec.Containers) && requestAll(p.Spec.InitContainers) {
		return exact, exact
	}
	opts.NonMissingContainerRequests = DefaultScoreRequests
	if features.PodLevelResources && resource.IsPodLevelRequestsSet(p) { // such a pod gets defaults only for resources that nothing requests
		opts.NonMissingContainerRequests = maps.Clone(DefaultScoreRequests)
		maps.DeleteFunc(opts.NonMissingContainerRequests, func(name corev1.ResourceName, _ resourceapi.Quantity) bool {
			_, given := list[name]
			return given
		})
	}
	return exact, ResourcesOf(resource.PodRequests(p, opts))
}

// statusAgrees reports whether the status of the pod has no other requests than its spec, as long as no resize is under
// way.
func statusAgrees(p *corev1.Pod) bool {
	if p.Status.Resources != nil || p.Status.AllocatedResources != nil || hasPendingResize(p) {
		return false
	}
	for _, list := range [...][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			want, s := list[i].Resources.Requests, statusOf(list[i].Name, p)
			if s != nil && (s.AllocatedResources != nil && !sameResourceList(s.AllocatedResources, want) ||
				s.Resources != nil && s.Resources.Requests != nil && !sameResourceList(s.Resources.Requests, want)) {
				return false
			}
		}
	}
	return true
}

// requestAll reports whether each container requests all resources for which scores assume requests.
func requestAll(list []corev1.Container) bool {
	for i := range list {
		for name := range DefaultScoreRequests {
			if _, has := list[i].Resources.Requests[name]; !has {
				return false
			}
		}
	}
	return true
}

// RequestsOnNode returns the requests that count for a pod on a node in a version of Kubernetes.
func RequestsOnNode(p *corev1.Pod, features kubeversion.Features) corev1.ResourceList {
	return resource.PodRequests(withStatus(p, &features), requestOptions(&features))
}

// LimitsOnNode returns the limits that count for a pod on a node in a version of Kubernetes.
func LimitsOnNode(p *corev1.Pod, features kubeversion.Features) corev1.ResourceList {
	return resource.PodLimits(withStatus(p, &features), requestOptions(&features))
}

// requestOptions returns the options for the helpers of Kubernetes 1.37 that make them compute like
// another version, from the pod of withStatus.
func requestOptions(features *kubeversion.Features) resource.PodResourcesOptions {
	return resource.PodResourcesOptions{UseStatusResources: features.ResizeByPod,
		InPlacePodLevelResourcesVerticalScalingEnabled: features.PodLevelStatuses,
		SkipPodLevelResources:                          !features.PodLevelResources}
}

// withStatus returns the pod to give to the helpers.
func withStatus(p *corev1.Pod, features *kubeversion.Features) *corev1.Pod {
	if features.ResizeByPod {
		return p
	}
	return withLargestRequests(p, features)
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
