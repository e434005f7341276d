package observe

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// keep drops what no decision looks at before an object is stored: most of a
// pod's bytes are its containers' settings and the history of its writers.
func keep(x any) (any, error) {
	if o, err := meta.Accessor(x); err == nil {
		o.SetManagedFields(nil)
	}
	switch o := x.(type) {
	case *corev1.Pod:
		keepPod(o)
	case *corev1.Node:
		o.Status.DaemonEndpoints = corev1.NodeDaemonEndpoints{}
		o.Status.NodeInfo = corev1.NodeSystemInfo{}
		o.Status.VolumesInUse, o.Status.VolumesAttached = nil, nil
	}
	return x, nil
}

func keepPod(p *corev1.Pod) {
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			list[i] = cluster.PlacedContainer(&list[i])
		}
	}
	p.Spec.EphemeralContainers = nil
	delete(p.Annotations, corev1.LastAppliedConfigAnnotation)
	for i := range p.Status.ContainerStatuses {
		keepStatus(&p.Status.ContainerStatuses[i])
	}
	for i := range p.Status.InitContainerStatuses {
		keepStatus(&p.Status.InitContainerStatuses[i])
	}
	p.Status.EphemeralContainerStatuses, p.Status.PodIPs, p.Status.HostIPs = nil, nil, nil
}

// keepStatus keeps what requests depend on while a pod is resized in place.
func keepStatus(s *corev1.ContainerStatus) {
	*s = corev1.ContainerStatus{Name: s.Name, Ready: s.Ready, RestartCount: s.RestartCount, Resources: s.Resources, AllocatedResources: s.AllocatedResources, Started: s.Started}
}
