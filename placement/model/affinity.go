package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// AffinityTerm is a pod affinity or anti-affinity term whose namespaces are resolved.
type AffinityTerm struct {
	namespaces []string // sorted
	nsSelector labels.Selector
	Selector   labels.Selector // of pods by their labels
	weight     int64           // 1 for a required term; negative for preferred anti-affinity
	Key        string          // topology key
}

// ExistingTerms are the terms of one kind and topology key that the same pods on nodes declare, with the number of
// these pods on each node. However many terms a pod declares, it is counted once for each topology key.
type ExistingTerms struct {
	terms    []AffinityTerm
	required bool
	Key      string // topology key
	Pods     *PodCounter
	// NeedsNamespaces reports whether one of the terms selects namespaces by their labels.
	NeedsNamespaces bool
}

// newAffinityTerm resolves a term of a pod in a namespace. A term without namespaces and
// namespaceSelector selects the pod's own namespace. The API server has merged matchLabelKeys and
// mismatchLabelKeys into the selector when the pod was created.
func newAffinityTerm(namespace string, t *corev1.PodAffinityTerm, weight int64) (AffinityTerm, error) {
	sel, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return AffinityTerm{}, fmt.Errorf("reading the labelSelector: %w", err)
	}
	ns, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	if err != nil {
		return AffinityTerm{}, fmt.Errorf("reading the namespaceSelector: %w", err)
	}
	names := []string{namespace}
	if len(t.Namespaces) > 0 || t.NamespaceSelector != nil {
		names = slices.Sorted(slices.Values(t.Namespaces))
	}
	return AffinityTerm{namespaces: names, nsSelector: ns, Selector: sel, weight: weight, Key: t.TopologyKey}, nil
}

// selectionKey identifies the pods that the term selects. Two terms that differ only in the
// topology key have the same selectionKey.
func (t *AffinityTerm) selectionKey() string {
	ns := t.nsSelector.String()
	if t.NeedsNamespaces() {
		ns = "selector " + ns
	} else if t.nsSelector.Empty() {
		ns = "all"
	}
	return strings.Join(t.namespaces, ",") + "|" + ns + "|" + selectorID(t.Selector)
}

// selectorID returns the selector's text. labels.Nothing and labels.Everything both print an empty
// text, so Everything returns "*".
func selectorID(s labels.Selector) string {
	if s.Empty() {
		return "*"
	}
	return s.String()
}

// SelectsNamespace reports whether the term selects pods of a namespace with these labels.
func (t *AffinityTerm) SelectsNamespace(name string, l map[string]string) bool {
	return slices.Contains(t.namespaces, name) || t.nsSelector.Matches(labels.Set(l))
}

// NeedsNamespaces reports whether the term selects namespaces by their labels.
func (t *AffinityTerm) NeedsNamespaces() bool {
	reqs, selectable := t.nsSelector.Requirements()
	return selectable && len(reqs) > 0
}

// MatchesNoLabels reports whether the term's namespaceSelector matches a namespace without labels.
// Only requirements with NotIn and DoesNotExist do.
func (t *AffinityTerm) MatchesNoLabels() bool {
	return t.NeedsNamespaces() && t.nsSelector.Matches(labels.Set{})
}

// ByKey calls f with the terms of each topology key, in the order of the keys.
func ByKey(terms []AffinityTerm, f func(key string, terms []AffinityTerm)) {
	byKey := map[string][]AffinityTerm{}
	for _, t := range terms {
		byKey[t.Key] = append(byKey[t.Key], t)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		f(key, byKey[key])
	}
}

// PodTerms are the inter-pod affinity terms of one pod spec.
type PodTerms struct{ Affinity, Anti, Preferred []AffinityTerm }

// ReadTerms reads the inter-pod affinity terms of a pod in a namespace. After an invalid term,
// ReadTerms reads the other terms and returns the first error.
func ReadTerms(namespace string, a *corev1.Affinity) (PodTerms, error) {
	var t PodTerms
	if a == nil {
		return t, nil
	}
	var first error
	add := func(list *[]AffinityTerm, src *corev1.PodAffinityTerm, weight int64) {
		x, err := newAffinityTerm(namespace, src, weight)
		first = cmp.Or(first, err)
		*list = append(*list, x)
	}
	read := func(list *[]AffinityTerm, a *corev1.PodAffinity, sign int64) {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			add(list, &a.RequiredDuringSchedulingIgnoredDuringExecution[i], 1)
		}
		for _, x := range a.PreferredDuringSchedulingIgnoredDuringExecution {
			add(&t.Preferred, &x.PodAffinityTerm, sign*int64(x.Weight))
		}
	}
	if a.PodAffinity != nil {
		read(&t.Affinity, a.PodAffinity, 1)
	}
	if a.PodAntiAffinity != nil {
		read(&t.Anti, (*corev1.PodAffinity)(a.PodAntiAffinity), -1)
	}
	return t, first
}
