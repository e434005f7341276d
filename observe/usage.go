package observe

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// SetUsageSource has every snapshot from now on hold what usage says; nil: nothing.
func (o *Observer) SetUsageSource(usage func() *cluster.Usage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.usage = usage
}

// currentUsage is asked before the objects are read: what came since is told from them.
func (o *Observer) currentUsage() *cluster.Usage {
	o.mu.Lock()
	usage := o.usage
	o.mu.Unlock()
	if usage == nil {
		return nil
	}
	return usage()
}

// PodPlace says where a pod (namespace/name) stands; false when it is not there, has
// ended, or stands on no node.
func (o *Observer) PodPlace(pod string) (window.PodPlace, bool) {
	x, found, err := o.pods().GetStore().GetByKey(pod)
	p, ok := x.(*corev1.Pod)
	if err != nil || !found || !ok || p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return window.PodPlace{}, false
	}
	return window.PodPlace{Node: p.Spec.NodeName, UID: string(p.UID), Created: p.CreationTimestamp.Time}, true
}
