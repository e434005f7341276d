package observe

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadOf names what replaces a pod: the Deployment above its ReplicaSet,
// else its controller; "" for a pod without one. During a rollout the
// replacement may come from another ReplicaSet of the same Deployment.
func (o *Observer) WorkloadOf(p *corev1.Pod) string {
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
