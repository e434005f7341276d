package model

import (
	"fmt"
	"maps"
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

// CounterOfAll counts the pods on nodes that match all the terms.
func CounterOfAll(m *Cluster, terms []AffinityTerm) *PodCounter {
	matches := func(c *EquivalenceClass) bool { return m.MatchesAllTerms(terms, c) }
	return m.termCounter(termsID("&", terms), m.ClassList, matches)
}

// CounterOfAny counts the pods on nodes that match at least one of the terms.
func CounterOfAny(m *Cluster, terms []AffinityTerm) *PodCounter {
	return m.termCounter(termsID("|", terms), m.ClassList, func(c *EquivalenceClass) bool {
		_, some := m.SumOfWeights(terms, c)
		return some
	})
}

// EachWeight calls f with each sum of the weights of the terms that a pod matches, and the counter of the pods on nodes
// with this sum.
func EachWeight(m *Cluster, terms []AffinityTerm, f func(weight int64, pods *PodCounter)) {
	classes := map[int64][]*EquivalenceClass{} // by sum
	for _, c := range m.ClassList {
		if sum, some := m.SumOfWeights(terms, c); some {
			classes[sum] = append(classes[sum], c)
		}
	}
	id := termsID("+", terms)
	for _, sum := range slices.Sorted(maps.Keys(classes)) {
		f(sum, m.termCounter(fmt.Sprint(id, "=", sum), classes[sum], func(*EquivalenceClass) bool { return true }))
	}
}

// termCounter returns the counter with an ID. A new counter counts the pods of those classes for which counts is true.
func (m *Cluster) termCounter(id string, classes []*EquivalenceClass, counts func(*EquivalenceClass) bool) *PodCounter {
	if c := m.termCounters[id]; c != nil {
		return c
	}
	k := &PodCounter{}
	m.termCounters[id] = k
	for _, c := range classes {
		if counts(c) {
			c.termCounters = append(c.termCounters, k)
			m.countClassPods(c, k, true)
		}
	}
	return k
}

// termsID identifies the pods that the terms select, and their weights. The operator says how they are joined.
func termsID(operator string, terms []AffinityTerm) string {
	ids := make([]string, len(terms))
	for i := range terms {
		ids[i] = fmt.Sprint(terms[i].selectionKey(), "*", terms[i].weight)
	}
	slices.Sort(ids)
	return operator + strings.Join(ids, operator)
}

// countClassPods adds the pods of a class to a counter, each on its current node.
func (m *Cluster) countClassPods(c *EquivalenceClass, k *PodCounter, terminating bool) {
	for _, p := range c.pods {
		if from, ok := m.terminating[p]; ok && terminating {
			k.Add(from, 1)
		}
		if n := m.PodNode[p]; n != cluster.NoNode && (terminating || !m.Snap.Pods[p].Terminating) {
			k.Add(n, 1)
		}
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
	register := func(list *[]*ExistingTerms, terms []AffinityTerm, required bool) {
		ByKey(terms, func(key string, terms []AffinityTerm) {
			id := fmt.Sprintf("%t|%t|%s|%s", list == &m.AntiAffinityTerms, required, key, termsID("|", terms))
			o := m.termsByID[id]
			if o == nil {
				o = &ExistingTerms{terms: terms, required: required, Key: key, Pods: &PodCounter{},
					NeedsNamespaces: slices.ContainsFunc(terms, func(t AffinityTerm) bool { return t.NeedsNamespaces() })}
				m.termsByID[id] = o
				*list = append(*list, o)
			}
			c.termCounters = append(c.termCounters, o.Pods)
		})
	}
	register(&m.AntiAffinityTerms, t.Anti, true)
	register(&m.ScoredTerms, t.Affinity, true)
	register(&m.ScoredTerms, t.Preferred, false)
}

// CountedBy reports whether the counter counts the pods of the class.
func (c *EquivalenceClass) CountedBy(k *PodCounter) bool {
	return slices.Contains(c.spreadCounters, k) || slices.Contains(c.termCounters, k)
}

// PodCounter counts the pods of some equivalence classes on each node. The counter lists only nodes
// with counted pods. The pods of most classes run on few nodes, so a counter lists few nodes and
// needs little memory.
type PodCounter struct {
	Nodes []PodsOnNode // sorted by node; no entry has 0 pods
}

// PodsOnNode is the number of counted pods on one node.
type PodsOnNode struct {
	Node cluster.NodeID
	Pods int32
}

// Add adds `by` pods to the node. The time is O(log k) for k nodes with pods, and O(k) when a node
// gets its first pod or loses its last.
func (c *PodCounter) Add(n cluster.NodeID, by int32) {
	i, found := c.find(n)
	switch {
	case !found:
		if by != 0 {
			c.Nodes = slices.Insert(c.Nodes, i, PodsOnNode{n, by})
		}
	case c.Nodes[i].Pods+by == 0:
		c.Nodes = slices.Delete(c.Nodes, i, i+1)
	default:
		c.Nodes[i].Pods += by
	}
}

// CountOn returns the number of counted pods on the node.
func (c *PodCounter) CountOn(n cluster.NodeID) int32 {
	if i, found := c.find(n); found {
		return c.Nodes[i].Pods
	}
	return 0
}

// find returns the node's index in Nodes, or the index at which to insert the node.
func (c *PodCounter) find(n cluster.NodeID) (at int, found bool) {
	low, high := 0, len(c.Nodes)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if c.Nodes[mid].Node < n {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(c.Nodes) && c.Nodes[low].Node == n
}

// AnyCounter reports whether f returns true for one of the counters that count the pods of the class.
func (c *EquivalenceClass) AnyCounter(f func(*PodCounter) bool) bool {
	return slices.ContainsFunc(c.spreadCounters, f) || slices.ContainsFunc(c.termCounters, f)
}
