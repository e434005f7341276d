package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

type ownerKey struct{ apiVersion, kind, namespace, name string }

// Owner is what a pod's controller says about its pods.
type Owner struct {
	Selector       labels.Selector
	Template       *corev1.PodSpec
	WaitsForVictim bool // the replacement comes only when the victim is gone
}

// indexOwners prepares what is looked up by name.
func (w *Cluster) indexOwners() {
	w.Services = map[string][]*corev1.Service{}
	for i := range w.Snap.Services {
		if o := w.Snap.Services[i].Object; o != nil && o.Spec.Selector != nil {
			w.Services[o.Namespace] = append(w.Services[o.Namespace], o)
		}
	}
	w.owners = map[ownerKey]Owner{}
	if w.Snap.Objects != nil {
		for _, ns := range w.Snap.Objects.Namespaces {
			w.NamespaceLabels[ns.Name] = labels.Set(ns.Labels)
		}
		w.addOwners(w.Snap.Objects)
	}
}

func (w *Cluster) addOwners(o *cluster.Objects) {
	for _, rc := range o.ReplicationControllers {
		own := Owner{Selector: labels.SelectorFromSet(rc.Spec.Selector)}
		if rc.Spec.Template != nil {
			own.Template = &rc.Spec.Template.Spec
		}
		w.owners[ownerKey{"v1", "ReplicationController", rc.Namespace, rc.Name}] = own
	}
	for _, rs := range o.ReplicaSets {
		sel, _ := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
		w.owners[ownerKey{"apps/v1", "ReplicaSet", rs.Namespace, rs.Name}] = Owner{Selector: sel, Template: &rs.Spec.Template.Spec}
	}
	for _, ss := range o.StatefulSets {
		sel, _ := metav1.LabelSelectorAsSelector(ss.Spec.Selector)
		w.owners[ownerKey{"apps/v1", "StatefulSet", ss.Namespace, ss.Name}] = Owner{Selector: sel, Template: &ss.Spec.Template.Spec, WaitsForVictim: true}
	}
	for _, j := range o.Jobs {
		w.owners[ownerKey{"batch/v1", "Job", j.Namespace, j.Name}] = Owner{Template: &j.Spec.Template.Spec, WaitsForVictim: jobWaitsForVictim(j)}
	}
}

// OwnerOf returns what is known of the pod's controller.
func (w *Cluster) OwnerOf(p *cluster.Pod) (Owner, bool) {
	c := p.Controller
	if c == nil {
		return Owner{}, false
	}
	o, ok := w.owners[ownerKey{c.APIVersion, c.Kind, p.Object.Namespace, c.Name}]
	return o, ok
}

// jobWaitsForVictim reports whether a Job replaces a pod only when it has ended. The API
// server fills in Failed where there is a podFailurePolicy.
func jobWaitsForVictim(j *batchv1.Job) bool {
	if p := j.Spec.PodReplacementPolicy; p != nil {
		return *p == batchv1.Failed
	}
	return j.Spec.PodFailurePolicy != nil
}
