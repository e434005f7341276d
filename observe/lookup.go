package observe

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ReplacingOwnerUID returns the UID of the owner that replaces a pod: the Deployment above its
// ReplicaSet, or else its controller. It returns "" for a bare pod. During a rollout, another
// ReplicaSet of the Deployment may create the replacement.
func (o *Observer) ReplacingOwnerUID(p *corev1.Pod) string {
	c := metav1.GetControllerOfNoCopy(p)
	if c == nil {
		return ""
	}
	if c.Kind == "ReplicaSet" {
		rs, err := o.factory.Apps().V1().ReplicaSets().Lister().ReplicaSets(p.Namespace).Get(c.Name)
		if err == nil && rs.UID == c.UID {
			if above := metav1.GetControllerOfNoCopy(rs); above != nil {
				c = above
			}
		}
	}
	return string(c.UID)
}

// WorkloadUID returns the UID of a workload as last seen, or "" if it was not seen.
func (o *Observer) WorkloadUID(kind, namespace, name string) types.UID {
	apps, core, batch := o.factory.Apps().V1(), o.factory.Core().V1(), o.factory.Batch().V1()
	var found metav1.Object
	var err error
	switch kind {
	case "Deployment":
		found, err = apps.Deployments().Lister().Deployments(namespace).Get(name)
	case "ReplicaSet":
		found, err = apps.ReplicaSets().Lister().ReplicaSets(namespace).Get(name)
	case "StatefulSet":
		found, err = apps.StatefulSets().Lister().StatefulSets(namespace).Get(name)
	case "ReplicationController":
		found, err = core.ReplicationControllers().Lister().ReplicationControllers(namespace).Get(name)
	case "Job":
		found, err = batch.Jobs().Lister().Jobs(namespace).Get(name)
	case "Pod":
		found, err = core.Pods().Lister().Pods(namespace).Get(name)
	default:
		return ""
	}
	if err != nil {
		return ""
	}
	return found.GetUID()
}
