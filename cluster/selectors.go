package cluster

import (
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// PodIndex finds the pods that a selector matches. A large cluster has thousands of Services, budgets and other
// selectors. Testing every pod of a namespace against each of them would take minutes.
type PodIndex struct {
	snapshot *Snapshot
	byLabel  labelIndex
}

// NewPodIndex returns an index of the pods of a snapshot. It is not safe for concurrent use.
func NewPodIndex(s *Snapshot) *PodIndex { return &PodIndex{s, labelIndex{}} }

// labelIndex maps a namespace and a label key to the pods by label value.
type labelIndex map[namespaceKey]map[string][]PodID

type namespaceKey struct{ namespace, key string }

// ForEachSelected calls f for each pod of a namespace that the selector matches, in order. It returns the number of
// pods that it compared with the selector, as a measure of the work.
func (x *PodIndex) ForEachSelected(ns string, sel labels.Selector, f func(*Pod)) (compared int) {
	wanted, selectable := sel.Requirements()
	if !selectable {
		return 0
	}
	visit := func(p *Pod) {
		if sel.Matches(labels.Set(p.Object.Labels)) {
			f(p)
		}
	}
	if few, ok := x.candidatePods(ns, wanted); ok {
		for _, id := range few {
			visit(&x.snapshot.Pods[id])
		}
		return len(few)
	}
	from, to := x.podsOfNamespace(ns)
	for i := from; i < to; i++ {
		visit(&x.snapshot.Pods[i])
	}
	return to - from
}

// candidatePods returns, in order, the pods that meet the most selective requirement. ok is false
// if no requirement lists accepted values.
func (x *PodIndex) candidatePods(ns string, wanted labels.Requirements) (few []PodID, ok bool) {
	var fewest int
	var best [][]PodID
	for i := range wanted {
		r := &wanted[i]
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
		default:
			continue
		}
		byValue := x.podsByLabel(ns, r.Key())
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

func (x *PodIndex) podsByLabel(ns, key string) map[string][]PodID {
	at := namespaceKey{ns, key}
	byValue, ok := x.byLabel[at]
	if !ok {
		byValue = map[string][]PodID{}
		from, to := x.podsOfNamespace(ns)
		for i := from; i < to; i++ {
			if v, ok := x.snapshot.Pods[i].Object.Labels[key]; ok {
				byValue[v] = append(byValue[v], PodID(i))
			}
		}
		x.byLabel[at] = byValue
	}
	return byValue
}

// podsOfNamespace returns the range of a namespace's pods. They are contiguous, because pods
// are sorted by namespace.
func (x *PodIndex) podsOfNamespace(ns string) (from, to int) {
	pods := x.snapshot.Pods
	from = sort.Search(len(pods), func(i int) bool { return pods[i].Object.Namespace >= ns })
	to = from + sort.Search(len(pods)-from, func(i int) bool { return pods[from+i].Object.Namespace > ns })
	return from, to
}
