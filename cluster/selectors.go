package cluster

import (
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// labelIndex maps a namespace and a label key to the pods by label value. A large cluster has
// thousands of Services and budgets. Testing every pod of a namespace against each of them would
// take minutes.
type labelIndex map[namespaceKey]map[string][]PodID

type namespaceKey struct{ namespace, key string }

// forEachSelected calls f for each pod of a namespace that the selector matches, in order.
func (b *builder) forEachSelected(ns string, sel labels.Selector, f func(*Pod)) {
	wanted, selectable := sel.Requirements()
	if !selectable {
		return
	}
	visit := func(p *Pod) {
		if sel.Matches(labels.Set(p.Object.Labels)) {
			f(p)
		}
	}
	if few, ok := b.candidatePods(ns, wanted); ok {
		for _, id := range few {
			visit(&b.s.Pods[id])
		}
		return
	}
	from, to := b.podsOfNamespace(ns)
	for i := from; i < to; i++ {
		visit(&b.s.Pods[i])
	}
}

// candidatePods returns, in order, the pods that meet the most selective requirement. ok is false
// if no requirement lists accepted values.
func (b *builder) candidatePods(ns string, wanted labels.Requirements) (few []PodID, ok bool) {
	var fewest int
	var best [][]PodID
	for i := range wanted {
		r := &wanted[i]
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
		default:
			continue
		}
		byValue := b.podsByLabel(ns, r.Key())
		n, lists := 0, [][]PodID(nil)
		for _, v := range r.ValuesUnsorted() {
			n, lists = n+len(byValue[v]), append(lists, byValue[v])
		}
		if !ok || n < fewest {
			fewest, best, ok = n, lists, true
		}
	}
	if len(best) == 1 {
		return best[0], ok
	}
	few = slices.Concat(best...)
	slices.Sort(few)
	return slices.Compact(few), ok // a requirement may list a value twice
}

func (b *builder) podsByLabel(ns, key string) map[string][]PodID {
	at := namespaceKey{ns, key}
	if b.labelIndex == nil {
		b.labelIndex = labelIndex{}
	}
	byValue, ok := b.labelIndex[at]
	if !ok {
		byValue = map[string][]PodID{}
		from, to := b.podsOfNamespace(ns)
		for i := from; i < to; i++ {
			if v, ok := b.s.Pods[i].Object.Labels[key]; ok {
				byValue[v] = append(byValue[v], PodID(i))
			}
		}
		b.labelIndex[at] = byValue
	}
	return byValue
}

// podsOfNamespace returns the range of a namespace's pods. They are contiguous, because pods
// are sorted by namespace.
func (b *builder) podsOfNamespace(ns string) (from, to int) {
	pods := b.s.Pods
	from = sort.Search(len(pods), func(i int) bool { return pods[i].Object.Namespace >= ns })
	to = from + sort.Search(len(pods)-from, func(i int) bool { return pods[from+i].Object.Namespace > ns })
	return from, to
}
