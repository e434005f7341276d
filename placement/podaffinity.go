package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// term is an affinity term as its pod means it: its namespaces are resolved.
type term struct {
	namespaces []string // sorted
	nsSelector labels.Selector
	selector   labels.Selector
	key        string // topology key
}

// ownedTerm is a term together with the count of the standing pods that have it.
type ownedTerm struct {
	term
	weight int64 // for scores: signed; 0: required, and the profile says what it adds
	pods   *counter
}

// newTerm resolves a term of a pod in a namespace. Without namespaces and
// namespaceSelector it means the pod's own namespace. matchLabelKeys and
// mismatchLabelKeys need nothing here: the API server has merged them into the
// selector when it created the pod.
func newTerm(namespace string, t *corev1.PodAffinityTerm) (term, error) {
	sel, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return term{}, fmt.Errorf("reading the labelSelector: %w", err)
	}
	ns, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	if err != nil {
		return term{}, fmt.Errorf("reading the namespaceSelector: %w", err)
	}
	names := []string{namespace}
	if len(t.Namespaces) > 0 || t.NamespaceSelector != nil {
		names = slices.Sorted(slices.Values(t.Namespaces))
	}
	return term{namespaces: names, nsSelector: ns, selector: sel, key: t.TopologyKey}, nil
}

// id tells terms apart, the topology key left out.
func (t *term) id() string {
	ns := t.nsSelector.String()
	if t.needsNamespaces() {
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

// needsNamespaces reports whether labels of namespaces decide what it matches.
func (t *term) needsNamespaces() bool {
	reqs, selectable := t.nsSelector.Requirements()
	return selectable && len(reqs) > 0
}

func (w *clusterState) matchesTerm(t *term, c *class) bool {
	if !slices.Contains(t.namespaces, c.namespace) && !t.nsSelector.Matches(w.nsLabels[c.namespace]) {
		return false
	}
	return t.selector.Matches(c.labels)
}

func (w *clusterState) matchesAll(terms []term, c *class) bool {
	for i := range terms {
		if !w.matchesTerm(&terms[i], c) {
			return false
		}
	}
	return len(terms) > 0
}

// podTerms are the four lists of inter-pod affinity terms of a pod spec.
type podTerms struct {
	affinity, anti []term
	preferred      []term // signed by weights
	weights        []int64
}

func readTerms(namespace string, a *corev1.Affinity) (podTerms, error) {
	var t podTerms
	if a == nil {
		return t, nil
	}
	var first error
	add := func(list *[]term, src *corev1.PodAffinityTerm) {
		x, err := newTerm(namespace, src)
		if err != nil && first == nil {
			first = err
		}
		*list = append(*list, x)
	}
	soft := func(sign int64, src []corev1.WeightedPodAffinityTerm) {
		for i := range src {
			add(&t.preferred, &src[i].PodAffinityTerm)
			t.weights = append(t.weights, sign*int64(src[i].Weight))
		}
	}
	if p := a.PodAffinity; p != nil {
		for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
			add(&t.affinity, &p.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
		soft(1, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
			add(&t.anti, &p.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
		soft(-1, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return t, first
}

// own registers the terms that the pods of a class hold against, or in favour
// of, newcomers. It runs before any pod is counted.
func (w *clusterState) own(c *class) {
	t, err := readTerms(c.namespace, c.sample.Object.Spec.Affinity)
	if err != nil {
		w.unreadable = c.namespace + "/" + c.sample.Object.Name
		return
	}
	for _, x := range t.anti {
		w.ownTerm(c, x, 0, &w.anti)
	}
	for _, x := range t.affinity {
		w.ownTerm(c, x, 0, &w.scored)
	}
	for i, x := range t.preferred {
		w.ownTerm(c, x, t.weights[i], &w.scored)
	}
}

func (w *clusterState) ownTerm(c *class, t term, weight int64, list *[]*ownedTerm) {
	id := fmt.Sprintf("%d|%t|%s|%s", weight, list == &w.anti, t.key, t.id())
	o := w.owned[id]
	if o == nil {
		o = &ownedTerm{term: t, weight: weight, pods: &counter{}}
		w.owned[id] = o
		*list = append(*list, o)
	}
	c.affinity = append(c.affinity, o.pods)
}

// matching returns the count of standing pods that match all the terms.
func (w *clusterState) matching(terms []term) *counter {
	ids := make([]string, len(terms))
	for i := range terms {
		ids[i] = terms[i].id()
	}
	slices.Sort(ids)
	id := strings.Join(ids, "&")
	if c := w.matches[id]; c != nil {
		return c
	}
	k := &counter{}
	w.matches[id] = k
	for _, c := range w.classes {
		if w.matchesAll(terms, c) {
			c.affinity = append(c.affinity, k)
			w.count(c, k, true)
		}
	}
	return k
}

// count adds the pods of a class, where they stand now, to a counter.
func (w *clusterState) count(c *class, k *counter, terminating bool) {
	for _, p := range c.pods {
		n := w.node[p]
		if n == cluster.NoNode || (!terminating && w.snap.Pods[p].Terminating) {
			continue
		}
		k.add(n, 1)
		k.total++
	}
}
