package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// classesMatching lists the namespace's classes that have one of the labels that the
// selector asks for, the one that fewest have; all of them where it asks for none
// by its value.
func (w *Cluster) classesMatching(namespace string, sel labels.Selector) []*EquivalenceClass {
	best, known := w.ClassesByNamespace[namespace], false
	reqs, _ := sel.Requirements()
	for i := range reqs {
		values := reqs[i].Values()
		if op := reqs[i].Operator(); op != selection.Equals && op != selection.DoubleEquals && op != selection.In || len(values) != 1 {
			continue
		}
		if list := w.classesByLabelValue(labelKey{namespace, reqs[i].Key()})[values.UnsortedList()[0]]; !known || len(list) < len(best) {
			best, known = list, true
		}
	}
	return best
}

// classesByLabelValue lists the classes of a namespace by their value of a label.
func (w *Cluster) classesByLabelValue(k labelKey) map[string][]*EquivalenceClass {
	if list, known := w.ClassesByLabel[k]; known {
		return list
	}
	list := map[string][]*EquivalenceClass{}
	for _, c := range w.ClassesByNamespace[k.namespace] {
		if v, has := c.Labels[k.key]; has {
			list[v] = append(list[v], c)
		}
	}
	w.ClassesByLabel[k] = list
	return list
}

// SpreadCounter returns the count of a namespace's pods that match the
// selector. An empty selector counts none here, though it matches the newcomer
// itself: that is how the scheduler does it.
func (w *Cluster) SpreadCounter(namespace string, sel labels.Selector) *PodCounter {
	id := namespace + "|" + selectorID(sel)
	if k := w.SpreadCounters[id]; k != nil {
		return k
	}
	k := &PodCounter{}
	w.SpreadCounters[id] = k
	if sel.Empty() {
		return k
	}
	for _, c := range w.classesMatching(namespace, sel) {
		if sel.Matches(c.Labels) {
			c.SpreadCounters = append(c.SpreadCounters, k)
			w.countClassPods(c, k, false)
		}
	}
	return k
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
