package oracle

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// addResourceStatuses adds what kubelets report while they resize a pod in place. Each value may be less than, equal
// to, or more than the request in the spec, and may be missing.
func (g *generatedCluster) addResourceStatuses(p *corev1.Pod) {
	p.Status.ContainerStatuses = g.containerStatuses(p.Spec.Containers)
	p.Status.InitContainerStatuses = g.containerStatuses(p.Spec.InitContainers)
	chance := 0.15
	if p.Spec.Resources != nil {
		chance = 0.8
	}
	if g.chance(chance) {
		total := corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")}
		p.Status.AllocatedResources, p.Status.Resources = g.changedRequests(total), g.reportedResources(total)
	}
	if g.chance(0.4) {
		reason := g.oneOf(corev1.PodReasonInfeasible, corev1.PodReasonInfeasible, corev1.PodReasonDeferred)
		pending := corev1.PodCondition{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: reason}
		p.Status.Conditions = []corev1.PodCondition{pending}
		p.Generation = 2 // the API server counts changes of the spec
		for i := range p.Spec.Containers {
			if cpu, ok := p.Spec.Containers[i].Resources.Requests["cpu"]; ok {
				grown := resource.NewMilliQuantity(3*cpu.MilliValue(), cpu.Format)
				p.Spec.Containers[i].Resources.Requests["cpu"] = *grown
			}
		}
	}
}

func (g *generatedCluster) containerStatuses(containers []corev1.Container) (out []corev1.ContainerStatus) {
	for i := range containers {
		if g.chance(0.1) {
			continue
		}
		wants := containers[i].Resources.Requests
		out = append(out, corev1.ContainerStatus{Name: containers[i].Name, AllocatedResources: g.changedRequests(wants),
			Resources: g.reportedResources(wants)})
	}
	return out
}

// reportedResources returns the resources with which a container or pod runs; nil if the kubelet does not report them.
func (g *generatedCluster) reportedResources(wants corev1.ResourceList) *corev1.ResourceRequirements {
	if g.chance(0.25) {
		return nil
	}
	return &corev1.ResourceRequirements{Requests: g.changedRequests(wants)}
}

// changedRequests returns requests before or after a resize; nil if there are none.
func (g *generatedCluster) changedRequests(wants corev1.ResourceList) corev1.ResourceList {
	if len(wants) == 0 || g.chance(0.15) {
		return nil
	}
	out := wants.DeepCopy()
	for _, name := range []corev1.ResourceName{"cpu", "memory"} {
		q, ok := out[name]
		switch {
		case ok && g.chance(0.1):
			delete(out, name)
		case ok && g.chance(0.7):
			out[name] = *resource.NewMilliQuantity(q.MilliValue()*int64(1+g.Intn(12))/4, q.Format)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
