package cluster

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-helpers/resource"
)

// defaultScoreRequests are the requests that the scheduler's scores assume for a container that
// states none (k8s.io/kubernetes/pkg/scheduler/util, since 1.0).
var defaultScoreRequests = corev1.ResourceList{
	corev1.ResourceCPU:    resourceapi.MustParse("100m"),
	corev1.ResourceMemory: resourceapi.MustParse("200Mi"),
}

// effectiveRequests returns the requests that the scheduler counts for a pod. They include init
// containers, sidecars, overhead, pod-level resources and resizes in progress. nonZero adds the
// defaults for scores. For a pod with pod-level requests, only resources that neither the pod
// nor any container requests get a default.
func effectiveRequests(p *corev1.Pod) (exact, nonZero Resources) {
	opts := resource.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}
	list := resource.PodRequests(p, opts)
	opts.NonMissingContainerRequests = defaultScoreRequests
	if resource.IsPodLevelRequestsSet(p) {
		opts.NonMissingContainerRequests = maps.Clone(defaultScoreRequests)
		maps.DeleteFunc(opts.NonMissingContainerRequests, func(name corev1.ResourceName, _ resourceapi.Quantity) bool {
			_, given := list[name]
			return given
		})
	}
	return ResourcesOf(list), ResourcesOf(resource.PodRequests(p, opts))
}

// requestCache computes the requests of one pod after another. Consecutive pods mostly belong
// to one controller and request the same. Comparing them takes a fiftieth of the time of
// computing the requests.
type requestCache struct {
	last           *corev1.Pod
	exact, nonZero Resources
}

func (a *requestCache) requests(p *corev1.Pod) (exact, nonZero Resources) {
	if a.last == nil || !sameRequestInputs(a.last, p) {
		a.exact, a.nonZero = effectiveRequests(p)
		a.last = p
	}
	return a.exact, a.nonZero
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
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == corev1.PodResizePending {
			return true
		}
	}
	return false
}

func sameContainers(a, b []corev1.Container) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Name != y.Name || !sameResourceList(x.Resources.Requests, y.Resources.Requests) || restartPolicy(x) != restartPolicy(y) {
			return false
		}
	}
	return true
}

// restartPolicy returns the restart policy of an init container. "Always" makes it a sidecar.
func restartPolicy(c *corev1.Container) corev1.ContainerRestartPolicy {
	if c.RestartPolicy == nil {
		return ""
	}
	return *c.RestartPolicy
}

func sameStatuses(a, b []corev1.ContainerStatus) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &a[i], &b[i]
		if x.Name != y.Name || !sameResourceList(x.AllocatedResources, y.AllocatedResources) || !sameRequests(x.Resources, y.Resources) {
			return false
		}
	}
	return true
}

func sameRequests(a, b *corev1.ResourceRequirements) bool {
	if a == b {
		return true
	}
	return a != nil && b != nil && sameResourceList(a.Requests, b.Requests)
}

// sameResourceList compares two lists. A nil list differs from an empty one.
func sameResourceList(a, b corev1.ResourceList) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for name, x := range a {
		if y, ok := b[name]; !ok || x.Cmp(y) != 0 {
			return false
		}
	}
	return true
}
