package conformance

import (
	"cmp"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// ownerVersions maps the kinds of owners to their API versions. Some cases name v1 for all kinds.
var ownerVersions = map[string]string{"ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "Job": "batch/v1"}

// owner is a controller that the objects of a case lack.
type owner struct {
	namespace string
	ref       metav1.OwnerReference
	template  corev1.PodTemplateSpec
	// pods counts the pods that run or will run, without those that are being deleted.
	pods int32
}

// addOwners completes the owner references of pods, and adds the owners.
func addOwners(o *cluster.Objects) {
	owners, order := map[string]*owner{}, []string{}
	for _, p := range o.Pods {
		for i := range p.OwnerReferences {
			ref := &p.OwnerReferences[i]
			completeOwnerReference(ref, p, i)
			key := p.Namespace + "/" + ref.Kind + "/" + ref.Name
			of := owners[key]
			if of == nil {
				spec := *p.Spec.DeepCopy()
				spec.NodeName = ""
				of = &owner{namespace: p.Namespace, ref: *ref,
					template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: spec}}
				owners[key], order = of, append(order, key)
			}
			ref.UID, of.template.Labels = of.ref.UID, commonLabels(of.template.Labels, p.Labels)
			ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
			if p.DeletionTimestamp == nil && !ended {
				of.pods++
			}
		}
	}
	for _, key := range order {
		owners[key].addTo(o)
	}
}

// completeOwnerReference sets the fields that a real reference has. A Pod owns no pods in a real
// cluster, so it becomes a ReplicaSet. A reference without a name gets a name of the pod's own,
// because it does not say which pods share an owner. The first reference is that of the controller.
func completeOwnerReference(ref *metav1.OwnerReference, p *corev1.Pod, index int) {
	if ref.Kind == "Pod" {
		ref.Kind = "ReplicaSet"
	}
	if version, known := ownerVersions[ref.Kind]; known {
		ref.APIVersion = version
	}
	if ref.Name == "" {
		ref.Name = strings.ToLower("owner-" + cmp.Or(string(ref.UID), p.Name))
	}
	if ref.UID == "" {
		ref.UID = types.UID(fmt.Sprintf("%s-%s-%s", p.Namespace, ref.Kind, ref.Name))
	}
	if index == 0 {
		ref.Controller = new(true)
	}
}

// addTo adds the owner as an object, if its kind is known.
func (w *owner) addTo(o *cluster.Objects) {
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: w.ref.Name, UID: w.ref.UID}
	selector := &metav1.LabelSelector{MatchLabels: w.template.Labels}
	switch w.ref.Kind {
	case "ReplicaSet":
		o.ReplicaSets = append(o.ReplicaSets, &appsv1.ReplicaSet{ObjectMeta: meta,
			Spec: appsv1.ReplicaSetSpec{Replicas: &w.pods, Selector: selector, Template: w.template}})
	case "StatefulSet":
		o.StatefulSets = append(o.StatefulSets, &appsv1.StatefulSet{ObjectMeta: meta,
			Spec: appsv1.StatefulSetSpec{Replicas: &w.pods, Selector: selector, Template: w.template}})
	case "DaemonSet":
		o.DaemonSets = append(o.DaemonSets, &appsv1.DaemonSet{ObjectMeta: meta,
			Spec: appsv1.DaemonSetSpec{Selector: selector, Template: w.template}})
	case "Job":
		o.Jobs = append(o.Jobs, &batchv1.Job{ObjectMeta: meta,
			Spec: batchv1.JobSpec{Parallelism: &w.pods, Completions: &w.pods, Template: w.template}})
	}
}

// commonLabels returns the labels that both have.
func commonLabels(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range a {
		if b[key] == value {
			out[key] = value
		}
	}
	return out
}
