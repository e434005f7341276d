package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// AffinityTerm is an affinity term as its pod means it: its namespaces are resolved.
type AffinityTerm struct {
	namespaces []string // sorted
	nsSelector labels.Selector
	selector   labels.Selector
	Key        string // topology key
}

// ExistingTerm is a term together with the count of the standing pods that have it.
type ExistingTerm struct {
	AffinityTerm
	Weight int64 // for scores: signed; 0: required, and the profile says what it adds
	Pods   *PodCounter
}

// newAffinityTerm resolves a term of a pod in a namespace. Without namespaces and
// namespaceSelector it means the pod's own namespace. matchLabelKeys and
// mismatchLabelKeys need nothing here: the API server has merged them into the
// selector when it created the pod.
func newAffinityTerm(namespace string, t *corev1.PodAffinityTerm) (AffinityTerm, error) {
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
	return AffinityTerm{namespaces: names, nsSelector: ns, selector: sel, Key: t.TopologyKey}, nil
}

// id tells terms apart, the topology key left out.
func (t *AffinityTerm) id() string {
	ns := t.nsSelector.String()
	if t.NeedsNamespaces() {
		ns = "selector " + ns
	} else if t.nsSelector.Empty() {
		ns = "all"
	}
	return strings.Join(t.namespaces, ",") + "|" + ns + "|" + selectorID(t.selector)
}

// selectorID is the selector's text; "nothing" and "everything" both print empty.
func selectorID(s labels.Selector) string {
	if s.Empty() {
		return "*"
	}
	return s.String()
}

// NeedsNamespaces reports whether labels of namespaces decide what it matches.
func (t *AffinityTerm) NeedsNamespaces() bool {
	reqs, selectable := t.nsSelector.Requirements()
	return selectable && len(reqs) > 0
}

func (w *Cluster) MatchesTerm(t *AffinityTerm, c *EquivalenceClass) bool {
	if !slices.Contains(t.namespaces, c.Namespace) && !t.nsSelector.Matches(w.NamespaceLabels[c.Namespace]) {
		return false
	}
	return t.selector.Matches(c.Labels)
}

func (w *Cluster) MatchesAllTerms(terms []AffinityTerm, c *EquivalenceClass) bool {
	for i := range terms {
		if !w.MatchesTerm(&terms[i], c) {
			return false
		}
	}
	return len(terms) > 0
}

// PodTerms are the four lists of inter-pod affinity terms of a pod spec.
type PodTerms struct {
	Affinity, Anti []AffinityTerm
	Preferred      []AffinityTerm // signed by weights
	Weights        []int64
}

func ReadTerms(namespace string, a *corev1.Affinity) (PodTerms, error) {
	var t PodTerms
	if a == nil {
		return t, nil
	}
	var first error
	add := func(list *[]AffinityTerm, src *corev1.PodAffinityTerm) {
		x, err := newAffinityTerm(namespace, src)
		if err != nil && first == nil {
			first = err
		}
		*list = append(*list, x)
	}
	soft := func(sign int64, src []corev1.WeightedPodAffinityTerm) {
		for i := range src {
			add(&t.Preferred, &src[i].PodAffinityTerm)
			t.Weights = append(t.Weights, sign*int64(src[i].Weight))
		}
	}
	if p := a.PodAffinity; p != nil {
		for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
			add(&t.Affinity, &p.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
		soft(1, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
			add(&t.Anti, &p.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
		soft(-1, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return t, first
}

// registerTerms registers the terms that the pods of a class hold against, or in favour
// of, newcomers. It runs before any pod is counted.
func (w *Cluster) registerTerms(c *EquivalenceClass) {
	t, err := ReadTerms(c.Namespace, c.Sample.Object.Spec.Affinity)
	if err != nil {
		w.InvalidAffinityPod = c.Namespace + "/" + c.Sample.Object.Name
		return
	}
	for _, x := range t.Anti {
		w.registerTerm(c, x, 0, &w.AntiAffinityTerms)
	}
	for _, x := range t.Affinity {
		w.registerTerm(c, x, 0, &w.ScoredTerms)
	}
	for i, x := range t.Preferred {
		w.registerTerm(c, x, t.Weights[i], &w.ScoredTerms)
	}
}

func (w *Cluster) registerTerm(c *EquivalenceClass, t AffinityTerm, weight int64, list *[]*ExistingTerm) {
	id := fmt.Sprintf("%d|%t|%s|%s", weight, list == &w.AntiAffinityTerms, t.Key, t.id())
	o := w.TermsByID[id]
	if o == nil {
		o = &ExistingTerm{AffinityTerm: t, Weight: weight, Pods: &PodCounter{}}
		w.TermsByID[id] = o
		*list = append(*list, o)
	}
	c.TermCounters = append(c.TermCounters, o.Pods)
}

// TermCounter returns the count of standing pods that match all the terms.
func (w *Cluster) TermCounter(terms []AffinityTerm) *PodCounter {
	ids := make([]string, len(terms))
	for i := range terms {
		ids[i] = terms[i].id()
	}
	slices.Sort(ids)
	id := strings.Join(ids, "&")
	if c := w.TermCounters[id]; c != nil {
		return c
	}
	k := &PodCounter{}
	w.TermCounters[id] = k
	for _, c := range w.ClassList {
		if w.MatchesAllTerms(terms, c) {
			c.TermCounters = append(c.TermCounters, k)
			w.countClassPods(c, k, true)
		}
	}
	return k
}

// countClassPods adds the pods of a class, where they stand now, to a counter.
func (w *Cluster) countClassPods(c *EquivalenceClass, k *PodCounter, terminating bool) {
	for _, p := range c.pods {
		n := w.PodNode[p]
		if n == cluster.NoNode || (!terminating && w.Snap.Pods[p].Terminating) {
			continue
		}
		k.Add(n, 1)
		k.Total++
	}
}
