package placement

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// labelKey is a label key in a namespace.
type labelKey struct{ namespace, key string }

// classesBy lists the namespace's classes that have one of the labels that the
// selector asks for, the one that fewest have; all of them where it asks for none
// by its value.
func (w *clusterState) classesBy(namespace string, sel labels.Selector) []*class {
	best, known := w.byNS[namespace], false
	reqs, _ := sel.Requirements()
	for i := range reqs {
		values := reqs[i].Values()
		if op := reqs[i].Operator(); op != selection.Equals && op != selection.DoubleEquals && op != selection.In || len(values) != 1 {
			continue
		}
		if list := w.labelled(labelKey{namespace, reqs[i].Key()})[values.UnsortedList()[0]]; !known || len(list) < len(best) {
			best, known = list, true
		}
	}
	return best
}

// labelled lists the classes of a namespace by their value of a label.
func (w *clusterState) labelled(k labelKey) map[string][]*class {
	if list, known := w.byLabel[k]; known {
		return list
	}
	list := map[string][]*class{}
	for _, c := range w.byNS[k.namespace] {
		if v, has := c.labels[k.key]; has {
			list[v] = append(list[v], c)
		}
	}
	w.byLabel[k] = list
	return list
}

// spreadCounter returns the count of a namespace's pods that match the
// selector. An empty selector counts none here, though it matches the newcomer
// itself: that is how the scheduler does it.
func (w *clusterState) spreadCounter(namespace string, sel labels.Selector) *counter {
	id := namespace + "|" + selectorID(sel)
	if k := w.spreads[id]; k != nil {
		return k
	}
	k := &counter{}
	w.spreads[id] = k
	if sel.Empty() {
		return k
	}
	for _, c := range w.classesBy(namespace, sel) {
		if sel.Matches(c.labels) {
			c.spread = append(c.spread, k)
			w.count(c, k, false)
		}
	}
	return k
}
