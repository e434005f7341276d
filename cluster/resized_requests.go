package cluster

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

// withLargestRequests returns a pod whose spec requests what Kubernetes counts for p without
// Features.ResizeByPod: for each container and sidecar, the maximum of the specified, actual and
// allocated requests. An ordinary init container, and a container without actual requests, keeps
// the specified requests. The same holds for limits, which are never allocated. The result is p if
// no status has actual requests.
func withLargestRequests(p *corev1.Pod, features *kubeversion.Features) *corev1.Pod {
	hasResources := func(s corev1.ContainerStatus) bool { return s.Resources != nil }
	podLevel := features.PodLevelStatuses && p.Spec.Resources != nil && p.Status.Resources != nil
	if !podLevel && !slices.ContainsFunc(p.Status.ContainerStatuses, hasResources) &&
		!slices.ContainsFunc(p.Status.InitContainerStatuses, hasResources) {
		return p
	}
	out := *p
	infeasible := resource.IsPodResizeInfeasible(p)
	out.Spec.Containers = slices.Clone(p.Spec.Containers)
	out.Spec.InitContainers = slices.Clone(p.Spec.InitContainers)
	for i := range out.Spec.Containers {
		setLargestRequests(&out.Spec.Containers[i], p, infeasible)
	}
	for i := range out.Spec.InitContainers {
		c := &out.Spec.InitContainers[i]
		if ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways {
			setLargestRequests(c, p, infeasible)
		}
	}
	if podLevel {
		out.Spec.Resources = p.Spec.Resources.DeepCopy()
		largest := largestRequests(infeasible, p.Spec.Resources.Requests, p.Status.Resources.Requests,
			p.Status.AllocatedResources)
		for name := range out.Spec.Resources.Requests { // only resources of the spec count
			out.Spec.Resources.Requests[name] = largest[name]
		}
	}
	return &out
}

func setLargestRequests(c *corev1.Container, p *corev1.Pod, infeasible bool) {
	s := statusOf(c.Name, p)
	if s != nil && s.Resources != nil {
		c.Resources.Requests = largestRequests(infeasible, c.Resources.Requests, s.Resources.Requests, s.AllocatedResources)
		c.Resources.Limits = largestRequests(infeasible, c.Resources.Limits, s.Resources.Limits, nil)
	}
}

// statusOf returns the status of a container or init container; nil if there is none.
func statusOf(container string, p *corev1.Pod) *corev1.ContainerStatus {
	for _, list := range [...][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			if list[i].Name == container {
				return &list[i]
			}
		}
	}
	return nil
}

// largestRequests returns the maximum of each resource. The specified requests of an infeasible
// resize do not count.
func largestRequests(infeasible bool, specified, actual, allocated corev1.ResourceList) corev1.ResourceList {
	if infeasible {
		specified = nil
	}
	out := corev1.ResourceList{}
	for _, list := range [...]corev1.ResourceList{specified, actual, allocated} {
		for name, amount := range list {
			if has, ok := out[name]; !ok || amount.Cmp(has) > 0 {
				out[name] = amount
			}
		}
	}
	return out
}
