package observe

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// SetUsageSource sets the function that supplies the measured usage for later snapshots. Nil
// means no usage.
func (o *Observer) SetUsageSource(usage func() *cluster.Usage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.usage = usage
}

// currentUsage must be called before the objects are read. Pods that arrived after the
// measurement are then visible in the objects.
func (o *Observer) currentUsage() *cluster.Usage {
	o.mu.Lock()
	usage := o.usage
	o.mu.Unlock()
	if usage == nil {
		return nil
	}
	return usage()
}

// PodPlace returns the node of a pod ("namespace/name"). It returns false if the pod does not
// exist, has ended, or is not bound.
func (o *Observer) PodPlace(pod string) (window.PodPlace, bool) {
	x, found, err := o.pods().GetStore().GetByKey(pod)
	p, ok := x.(*corev1.Pod)
	if err != nil || !found || !ok || p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return window.PodPlace{}, false
	}
	return window.PodPlace{Node: p.Spec.NodeName, UID: string(p.UID), Created: p.CreationTimestamp.Time}, true
}
