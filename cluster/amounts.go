package cluster

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// Measure is a way to look at how full nodes are.
type Measure struct {
	// ByUsage: what is used; else what pods request.
	ByUsage  bool
	Resource string
	// Pods selects the pods that count; nil: all, and whatever else uses the node.
	Pods labels.Selector
}

// UsageRequirements says when measured usage is believed.
type UsageRequirements struct {
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
	Measure  Measure
	snapshot *Snapshot
	// By node; nil: requests of all pods. unknownAmount: unknown.
	used, certain, uncertain []int64
	// By pod; nil as above.
	freed, added []int64
	quality      []UsageQuality // nil: all are known
}

// Amounts looks at the snapshot by a measure. Usage that is not to be trusted is
// unknown.
func (s *Snapshot) Amounts(m Measure, t UsageRequirements) *Amounts {
	a := &Amounts{Measure: m, snapshot: s}
	if !m.ByUsage && m.Pods == nil {
		return a
	}
	a.freed, a.added = make([]int64, len(s.Pods)), make([]int64, len(s.Pods))
	a.used, a.certain, a.uncertain = make([]int64, len(s.Nodes)), make([]int64, len(s.Nodes)), make([]int64, len(s.Nodes))
	if m.ByUsage {
		a.measureUsage(t)
	} else {
		a.sumRequests()
	}
	return a
}

func (a *Amounts) matches(p *Pod) bool {
	return a.Measure.Pods == nil || a.Measure.Pods.Matches(labels.Set(p.Object.Labels))
}

func (a *Amounts) sumRequests() {
	for i := range a.snapshot.Pods {
		p := &a.snapshot.Pods[i]
		if p.Terminal || !a.matches(p) {
			continue
		}
		a.freed[i] = p.Requests.Get(a.Measure.Resource)
		a.added[i] = a.freed[i]
		if p.Node != NoNode {
			a.used[p.Node] += a.freed[i]
			a.certain[p.Node] += a.freed[i]
		}
	}
}

// measureUsage: a pod that nobody has measured frees nothing where it stands, for nobody
// knows, and takes what it probably uses where it goes.
func (a *Amounts) measureUsage(t UsageRequirements) {
	l, resource := a.snapshot.Usage, a.Measure.Resource
	a.quality = make([]UsageQuality, len(a.snapshot.Pods))
	for n := range a.snapshot.Nodes {
		id := NodeID(n)
		used, probable, known := l.NodeUsed(id, resource)
		switch {
		case !known || !a.snapshot.usageIsFresh(id, t):
			a.used[n] = unknownAmount
		case a.Measure.Pods == nil:
			a.uncertain[n] = l.Uncertain(id, resource)
			a.used[n], a.certain[n] = used, used-probable-a.uncertain[n]
		}
	}
	for i := range a.snapshot.Pods {
		p := &a.snapshot.Pods[i]
		if p.Terminal || !a.matches(p) {
			a.quality[i] = Measured // it counts for nothing, for certain
			continue
		}
		use, known := l.PodUsed(PodID(i), resource)
		a.added[i], a.quality[i] = use, known
		if known >= Estimated {
			a.freed[i] = use
		}
		if a.Measure.Pods != nil && p.Node != NoNode {
			a.addPodUse(p.Node, use, known)
		}
	}
}

// addPodUse adds up the pods that count. A node is unknown as soon as one of them is.
func (a *Amounts) addPodUse(n NodeID, use int64, known UsageQuality) {
	if a.used[n] == unknownAmount {
		return
	}
	switch known {
	case Unknown:
		a.used[n] = unknownAmount
		return
	case Estimated, Measured:
		a.certain[n] += use
	}
	a.used[n] += use
}

func (s *Snapshot) usageIsFresh(n NodeID, t UsageRequirements) bool {
	age := s.TakenAt.Sub(s.Usage.MeasuredAt(n))
	return age >= -MaxClockSkew && (t.MaxAge <= 0 || age <= t.MaxAge)
}

// NodeUsed is what a node has, with what is only probable and without; false when it is
// not known.
func (a *Amounts) NodeUsed(n NodeID) (used, sure int64, known bool) {
	if a.used == nil {
		used = a.snapshot.Nodes[n].Requested.Get(a.Measure.Resource)
		return used, used, true
	}
	if a.used[n] == unknownAmount {
		return 0, 0, false
	}
	return a.used[n], a.certain[n], true
}

// Uncertain is how much of what a node has may have left it unseen. It takes room there,
// and nothing is moved for it.
func (a *Amounts) Uncertain(n NodeID) int64 {
	if a.uncertain == nil {
		return 0
	}
	return a.uncertain[n]
}

// Total is all that a node can have; 0 when it has none of the resource.
func (a *Amounts) Total(n NodeID) int64 {
	if a.Measure.ByUsage {
		return UsageDenominator(&a.snapshot.Nodes[n].Allocatable, a.Measure.Resource)
	}
	return a.snapshot.Nodes[n].Allocatable.Get(a.Measure.Resource)
}

// Contribution is what a pod's standing on a node adds to it: where it stands in the snapshot
// what is certain to go with it, elsewhere what is likely to come.
func (a *Amounts) Contribution(p PodID, n NodeID) int64 {
	switch {
	case a.freed == nil:
		return a.snapshot.Pods[p].Requests.Get(a.Measure.Resource)
	case n != NoNode && a.snapshot.Pods[p].Node == n:
		return a.freed[p]
	}
	return a.added[p]
}

// PodQuality says how it is known what a pod has.
func (a *Amounts) PodQuality(p PodID) UsageQuality {
	if a.quality == nil {
		return Measured
	}
	return a.quality[p]
}

// Coverage counts the nodes in scope, and those of them that are known.
func (a *Amounts) Coverage(scope Scope) (known, all int) {
	for i := range a.snapshot.Nodes {
		if !scope.HasNode(&a.snapshot.Nodes[i]) {
			continue
		}
		all++
		if _, _, ok := a.NodeUsed(NodeID(i)); ok {
			known++
		}
	}
	return known, all
}

// CoverageSufficient says whether usage is known of as many nodes in scope as trust asks for.
func (a *Amounts) CoverageSufficient(scope Scope) bool {
	known, all := a.Coverage(scope)
	return known > 0 && float64(known) >= scope.Usage.MinCoverage*float64(all)-coverageRounding
}

// coverageRounding lets 9 of 10 nodes be 0.9 of them.
const coverageRounding = 1e-9
