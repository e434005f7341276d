package observe

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/usage/window"
)

// ReplacingOwnerUID returns the UID of the owner that replaces a pod, or "" for a bare pod. For a pod
// of a Deployment, it is the UID of the Deployment: during a rollout, another ReplicaSet may create
// the replacement. For other pods, it is the UID of the controller.
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

// WorkloadUID returns the UID of a workload or pod as last seen, or "" if there is no such object.
func (o *Observer) WorkloadUID(kind, namespace, name string) types.UID {
	for _, w := range o.watched {
		if slices.Contains(workloadKinds, kind) && w.resource == strings.ToLower(kind)+"s" {
			x, _, _ := w.informer.GetStore().GetByKey(namespace + "/" + name) // never fails
			if found, ok := x.(metav1.Object); ok {
				return found.GetUID()
			}
		}
	}
	return ""
}

var workloadKinds = []string{"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "Job", "Pod"}

// PodPlace returns the node and the identity of a pod ("namespace/name"). It returns false if the pod
// does not exist, has ended, or is not bound.
func (o *Observer) PodPlace(pod string) (window.PodPlace, bool) {
	x, found, err := o.pods().GetStore().GetByKey(pod)
	p, ok := x.(*corev1.Pod)
	if err != nil || !found || !ok || p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return window.PodPlace{}, false
	}
	return window.PodPlace{Node: p.Spec.NodeName, UID: string(p.UID), Created: p.CreationTimestamp.Time}, true
}

// Pods returns the pods of a namespace as last seen. They are read-only.
func (o *Observer) Pods(namespace string) []*corev1.Pod {
	pods, _ := o.factory.Core().V1().Pods().Lister().Pods(namespace).List(labels.Everything()) // never fails
	return pods
}

// Node returns a node as last seen, or nil if there is no such node. It is read-only.
func (o *Observer) Node(name string) *corev1.Node {
	n, _ := o.factory.Core().V1().Nodes().Lister().Get(name) // nil with any error
	return n
}

// Nodes returns all nodes as last seen. They are read-only.
func (o *Observer) Nodes() []*corev1.Node {
	nodes, _ := o.factory.Core().V1().Nodes().Lister().List(labels.Everything()) // never fails
	return nodes
}
