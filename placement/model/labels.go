package model

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// labelKey is a label key in a namespace.
type labelKey struct{ namespace, key string }

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
