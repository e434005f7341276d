package cluster

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// Measure is a way to look at how full nodes are.
type Measure struct {
	// ByLoad: what is used; else what pods request.
	ByLoad   bool
	Resource string
	// Pods selects the pods that count; nil: all, and whatever else uses the node.
	Pods labels.Selector
}

// Trust says when measured usage is believed.
type Trust struct {
	// MaxAge is the age beyond which a node's usage is unknown; 0: none.
	MaxAge time.Duration
	// MinCoverage is the least share, of the nodes in scope, of which usage must be
	// known for anybody to act on it.
	MinCoverage float64
}

// Amounts are what nodes and pods have by one Measure, in milliCPU, bytes, or
// millionths of a node. The same Amounts state a goal and follow its moves, so that
// a move never removes what was not counted.
type Amounts struct {
	Measure Measure
	s       *Snapshot
	// By node; nil: requests of all pods. unknownAmount: unknown.
	used, sure, doubt []int64
	// By pod; nil as above.
	home, away []int64
	known      []Knowledge // nil: all are known
}

// Amounts looks at the snapshot by a measure. Usage that is not to be trusted is
// unknown.
func (s *Snapshot) Amounts(m Measure, t Trust) *Amounts {
	a := &Amounts{Measure: m, s: s}
	if !m.ByLoad && m.Pods == nil {
		return a
	}
	a.home, a.away = make([]int64, len(s.Pods)), make([]int64, len(s.Pods))
	a.used, a.sure, a.doubt = make([]int64, len(s.Nodes)), make([]int64, len(s.Nodes)), make([]int64, len(s.Nodes))
	if m.ByLoad {
		a.byLoad(t)
	} else {
		a.byRequests()
	}
	return a
}

func (a *Amounts) counts(p *Pod) bool {
	return a.Measure.Pods == nil || a.Measure.Pods.Matches(labels.Set(p.Object.Labels))
}

func (a *Amounts) byRequests() {
	for i := range a.s.Pods {
		p := &a.s.Pods[i]
		if p.Terminal || !a.counts(p) {
			continue
		}
		a.home[i] = p.Requests.Get(a.Measure.Resource)
		a.away[i] = a.home[i]
		if p.Node != NoNode {
			a.used[p.Node] += a.home[i]
			a.sure[p.Node] += a.home[i]
		}
	}
}

// byLoad: a pod that nobody has measured frees nothing where it stands, for nobody
// knows, and takes what it probably uses where it goes.
func (a *Amounts) byLoad(t Trust) {
	l, resource := a.s.Load, a.Measure.Resource
	a.known = make([]Knowledge, len(a.s.Pods))
	for n := range a.s.Nodes {
		id := NodeID(n)
		used, probable, known := l.Used(id, resource)
		switch {
		case !known || !a.s.fresh(id, t):
			a.used[n] = unknownAmount
		case a.Measure.Pods == nil:
			a.doubt[n] = l.Doubt(id, resource)
			a.used[n], a.sure[n] = used, used-probable-a.doubt[n]
		}
	}
	for i := range a.s.Pods {
		p := &a.s.Pods[i]
		if p.Terminal || !a.counts(p) {
			a.known[i] = Measured // it counts for nothing, for certain
			continue
		}
		use, known := l.Pod(PodID(i), resource)
		a.away[i], a.known[i] = use, known
		if known >= Estimated {
			a.home[i] = use
		}
		if a.Measure.Pods != nil && p.Node != NoNode {
			a.addTo(p.Node, use, known)
		}
	}
}

// addTo adds up the pods that count. A node is unknown as soon as one of them is.
func (a *Amounts) addTo(n NodeID, use int64, known Knowledge) {
	if a.used[n] == unknownAmount {
		return
	}
	switch known {
	case Unknown:
		a.used[n] = unknownAmount
		return
	case Estimated, Measured:
		a.sure[n] += use
	}
	a.used[n] += use
}

func (s *Snapshot) fresh(n NodeID, t Trust) bool {
	age := s.TakenAt.Sub(s.Load.At(n))
	return age >= -ClockSkew && (t.MaxAge <= 0 || age <= t.MaxAge)
}

// Node is what a node has, with what is only probable and without; false when it is
// not known.
func (a *Amounts) Node(n NodeID) (used, sure int64, known bool) {
	if a.used == nil {
		used = a.s.Nodes[n].Requested.Get(a.Measure.Resource)
		return used, used, true
	}
	if a.used[n] == unknownAmount {
		return 0, 0, false
	}
	return a.used[n], a.sure[n], true
}

// Doubt is how much of what a node has may have left it unseen. It takes room there,
// and nothing is moved for it.
func (a *Amounts) Doubt(n NodeID) int64 {
	if a.doubt == nil {
		return 0
	}
	return a.doubt[n]
}

// Total is all that a node can have; 0 when it has none of the resource.
func (a *Amounts) Total(n NodeID) int64 {
	if a.Measure.ByLoad {
		return WholeOf(&a.s.Nodes[n].Allocatable, a.Measure.Resource)
	}
	return a.s.Nodes[n].Allocatable.Get(a.Measure.Resource)
}

// Of is what a pod's standing on a node adds to it: where it stands in the snapshot
// what is certain to go with it, elsewhere what is likely to come.
func (a *Amounts) Of(p PodID, n NodeID) int64 {
	switch {
	case a.home == nil:
		return a.s.Pods[p].Requests.Get(a.Measure.Resource)
	case n != NoNode && a.s.Pods[p].Node == n:
		return a.home[p]
	}
	return a.away[p]
}

// Pod says how it is known what a pod has.
func (a *Amounts) Pod(p PodID) Knowledge {
	if a.known == nil {
		return Measured
	}
	return a.known[p]
}

// Coverage counts the nodes in scope, and those of them that are known.
func (a *Amounts) Coverage(scope Scope) (known, all int) {
	for i := range a.s.Nodes {
		if !scope.HasNode(&a.s.Nodes[i]) {
			continue
		}
		all++
		if _, _, ok := a.Node(NodeID(i)); ok {
			known++
		}
	}
	return known, all
}

// Enough says whether usage is known of as many nodes in scope as trust asks for.
func (a *Amounts) Enough(scope Scope) bool {
	known, all := a.Coverage(scope)
	return known > 0 && float64(known) >= scope.Load.MinCoverage*float64(all)-coverageRounding
}

// coverageRounding lets 9 of 10 nodes be 0.9 of them.
const coverageRounding = 1e-9
