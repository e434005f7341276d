package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// classesMatching returns the classes of the namespace that can match the selector. Of all
// requirements `key=value` of the selector, the one that matches the fewest classes decides. If the
// selector has no such requirement, the result is all classes of the namespace.
func (m *Cluster) classesMatching(namespace string, sel labels.Selector) []*EquivalenceClass {
	best, known := m.classesByNamespace[namespace], false
	reqs, _ := sel.Requirements()
	for i := range reqs {
		values := reqs[i].Values()
		if op := reqs[i].Operator(); op != selection.Equals && op != selection.DoubleEquals && op != selection.In || len(values) != 1 {
			continue
		}
		if list := m.classesByLabelValue(labelKey{namespace, reqs[i].Key()})[values.UnsortedList()[0]]; !known || len(list) < len(best) {
			best, known = list, true
		}
	}
	return best
}

// classesByLabelValue returns the classes of a namespace by their value of a label.
func (m *Cluster) classesByLabelValue(k labelKey) map[string][]*EquivalenceClass {
	if list, known := m.classesByLabel[k]; known {
		return list
	}
	list := map[string][]*EquivalenceClass{}
	for _, c := range m.classesByNamespace[k.namespace] {
		if v, has := c.Labels[k.key]; has {
			list[v] = append(list[v], c)
		}
	}
	m.classesByLabel[k] = list
	return list
}

// SpreadCounter counts the pods of a namespace that match the selector. An empty selector counts no
// pods, as in the scheduler.
func (m *Cluster) SpreadCounter(namespace string, sel labels.Selector) *PodCounter {
	id := namespace + "|" + selectorID(sel)
	if k := m.spreadCounters[id]; k != nil {
		return k
	}
	k := &PodCounter{}
	m.spreadCounters[id] = k
	if sel.Empty() {
		return k
	}
	for _, c := range m.classesMatching(namespace, sel) {
		if sel.Matches(c.Labels) {
			c.spreadCounters = append(c.spreadCounters, k)
			m.countClassPods(c, k, false)
		}
	}
	return k
}

// TermCounter counts the pods on nodes that match all the terms.
func (m *Cluster) TermCounter(terms []AffinityTerm) *PodCounter {
	ids := make([]string, len(terms))
	for i := range terms {
		ids[i] = terms[i].selectionKey()
	}
	slices.Sort(ids)
	id := strings.Join(ids, "&")
	if c := m.termCounters[id]; c != nil {
		return c
	}
	k := &PodCounter{}
	m.termCounters[id] = k
	for _, c := range m.ClassList {
		if m.MatchesAllTerms(terms, c) {
			c.termCounters = append(c.termCounters, k)
			m.countClassPods(c, k, true)
		}
	}
	return k
}

// countClassPods adds the pods of a class to a counter, each on its current node.
func (m *Cluster) countClassPods(c *EquivalenceClass, k *PodCounter, terminating bool) {
	for _, p := range c.pods {
		if from, ok := m.terminating[p]; ok && terminating {
			k.Add(from, 1)
			k.Total++
		}
		n := m.PodNode[p]
		if n == cluster.NoNode || (!terminating && m.Snap.Pods[p].Terminating) {
			continue
		}
		k.Add(n, 1)
		k.Total++
	}
}

// registerTerms registers the terms of the pods of a class that affect other pods. The caller must
// register terms before any pod is counted.
func (m *Cluster) registerTerms(c *EquivalenceClass) {
	t, err := ReadTerms(c.Namespace, c.Sample.Object.Spec.Affinity)
	if err != nil {
		m.InvalidAffinityPod = c.Namespace + "/" + c.Sample.Object.Name
		return
	}
	for _, x := range t.Anti {
		m.registerTerm(c, x, 0, &m.AntiAffinityTerms)
	}
	for _, x := range t.Affinity {
		m.registerTerm(c, x, 0, &m.ScoredTerms)
	}
	for i, x := range t.Preferred {
		m.registerTerm(c, x, t.Weights[i], &m.ScoredTerms)
	}
}

// registerTerm adds the term to the list unless the list contains it. The term's counter then
// counts the pods of the class.
func (m *Cluster) registerTerm(c *EquivalenceClass, t AffinityTerm, weight int64, list *[]*ExistingTerm) {
	id := fmt.Sprintf("%d|%t|%s|%s", weight, list == &m.AntiAffinityTerms, t.Key, t.selectionKey())
	o := m.termsByID[id]
	if o == nil {
		o = &ExistingTerm{AffinityTerm: t, Weight: weight, Pods: &PodCounter{}}
		m.termsByID[id] = o
		*list = append(*list, o)
	}
	c.termCounters = append(c.termCounters, o.Pods)
}

// CountedBy reports whether the counter counts the pods of the class.
func (c *EquivalenceClass) CountedBy(k *PodCounter) bool {
	return slices.Contains(c.spreadCounters, k) || slices.Contains(c.termCounters, k)
}
