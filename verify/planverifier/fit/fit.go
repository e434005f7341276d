// Package fit decides for the plan verifier whether a pod fits on a node beside other pods, in
// every order of the evictions and landings of a wave. The package shares no code with the planner.
// It never decides whether a pod may be evicted.
package fit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
)

// Cluster holds what decides where a pod fits, besides the other pods.
type Cluster struct {
	Nodes      map[string]*corev1.Node
	Namespaces map[string]*corev1.Namespace
	Objects    *cluster.Objects
	Features   kubeversion.Features // of the server's version
}

// isBound reports whether the pod is on a known node.
func (r *Cluster) isBound(p *corev1.Pod) bool { return r.Nodes[p.Spec.NodeName] != nil }

func key(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }

// TermSelects reports whether an affinity term of pod p selects pod q.
func (r *Cluster) TermSelects(t corev1.PodAffinityTerm, p, q *corev1.Pod) bool {
	sel, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil || !sel.Matches(labels.Set(q.Labels)) {
		return false
	}
	if t.NamespaceSelector == nil && len(t.Namespaces) == 0 {
		return q.Namespace == p.Namespace
	}
	if slices.Contains(t.Namespaces, q.Namespace) {
		return true
	}
	spaces, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector) // nil selects nothing
	if ns := r.Namespaces[q.Namespace]; err == nil && ns != nil {
		return spaces.Matches(labels.Set(ns.Labels))
	}
	return err == nil && spaces.Empty() // an empty selector selects every namespace
}
