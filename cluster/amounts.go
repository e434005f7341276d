package cluster

import (
	"k8s.io/apimachinery/pkg/labels"
)

// Measure selects what counts as the fill level of a node: a resource, and either usage or
// requests.
type Measure struct {
	// ByUsage counts measured usage. If it is false, requests count.
	ByUsage  bool
	Resource string
	// Pods selects the pods that count. If it is nil, all pods count, and with ByUsage
	// everything else that uses the node.
	Pods labels.Selector
}

// Amounts holds what nodes and pods use or request by one Measure, in milliCPU, bytes, or
// millionths of a node. A goal and the moves towards it use the same Amounts. A move therefore
// never removes more than the goal counted.
type Amounts struct {
	Measure  Measure
	snapshot *Snapshot
	// Both slices are indexed by node. They are nil if the requests of all pods count.
	// unknownAmount marks unknown usage.
	used, certain, uncertain []int64
	// Indexed by pod; nil if the requests of all pods count. freed is what leaving the current
	// node frees; added is what landing adds.
	freed, added []int64
	quality      []UsageQuality // by pod; nil: all are known
}

// Amounts evaluates the snapshot by a measure. Usage that does not meet the requirements is
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

// measureUsage fills the amounts from measured usage. A pod without a measurement frees nothing
// on its node, and adds its assumed usage where it lands.
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
			a.quality[i] = Measured // the pod does not count, which is certain
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

// addPodUse adds a pod to the sums of its node. If the usage of one counted pod is unknown, the
// usage of the node is unknown.
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

// NodeUsed returns what a node uses or has requested. certain leaves out assumed and uncertain
// parts. known is false if the usage is unknown.
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

// Uncertain returns how much of NodeUsed may belong to pods that left without being seen. It
// occupies the node, but no pod is moved because of it.
func (a *Amounts) Uncertain(n NodeID) int64 {
	if a.uncertain == nil {
		return 0
	}
	return a.uncertain[n]
}

// Total returns the allocatable amount of a node, or 0 if the node does not have the resource.
func (a *Amounts) Total(n NodeID) int64 {
	if a.Measure.ByUsage {
		return UsageDenominator(&a.snapshot.Nodes[n].Allocatable, a.Measure.Resource)
	}
	return a.snapshot.Nodes[n].Allocatable.Get(a.Measure.Resource)
}

// Contribution returns what a pod adds to a node. On the pod's current node, that is the amount
// that certainly leaves with it. On any other node, it is the amount that probably arrives.
func (a *Amounts) Contribution(p PodID, n NodeID) int64 {
	switch {
	case a.freed == nil:
		return a.snapshot.Pods[p].Requests.Get(a.Measure.Resource)
	case n != NoNode && a.snapshot.Pods[p].Node == n:
		return a.freed[p]
	}
	return a.added[p]
}

// PodQuality says how a pod's usage is known.
func (a *Amounts) PodQuality(p PodID) UsageQuality {
	if a.quality == nil {
		return Measured
	}
	return a.quality[p]
}

// Coverage counts all nodes in scope, and those whose usage is known.
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

// CoverageSufficient reports whether the usage of at least scope.Usage.MinCoverage of the nodes
// in scope is known.
func (a *Amounts) CoverageSufficient(scope Scope) bool {
	known, all := a.Coverage(scope)
	return known > 0 && float64(known) >= scope.Usage.MinCoverage*float64(all)-coverageRounding
}

// coverageRounding makes 9 of 10 nodes meet a minimum of 0.9 despite floating-point rounding.
const coverageRounding = 1e-9
