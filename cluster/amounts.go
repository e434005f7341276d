package cluster

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Measure defines the fill level of a node: the usage or the requests of one resource.
type Measure struct {
	// ByUsage selects measured usage instead of requests.
	ByUsage bool
	// Resource is cpu, memory or any other resource of a node. By requests, pods is the number of pods.
	Resource string
	// Pods selects the pods whose requests or usage are summed. If it is nil, all pods
	// count. With ByUsage, system processes then count, too.
	Pods labels.Selector
}

// Amounts holds the usage or the requests of all nodes and pods by one Measure, in milliCPU, bytes,
// or millionths of a node. A goal and the moves for it use the same Amounts, so a move never
// removes more than the goal counted.
type Amounts struct {
	Measure  Measure
	snapshot *Snapshot
	// These slices are indexed by node. They are nil if the requests of all pods count, for a resource other than
	// pods, and no changes are under way. The value of unknown usage is unknownAmount. unsettled is the part of
	// uncertain that belongs to pods that may leave by themselves or arrive.
	used, certain, uncertain, unsettled []int64
	// These slices are indexed by pod. They are nil when used is nil. An eviction
	// frees the freed amount on the pod's node, and the replacement adds the added amount to its node.
	freed, added []int64
	quality      []UsageQuality // by pod; nil if the amounts of all pods are known
}

// Amounts evaluates the snapshot by a measure. Usage that does not meet the requirements counts as
// unknown.
func (s *Snapshot) Amounts(m Measure, t UsageRequirements) *Amounts {
	a := &Amounts{Measure: m, snapshot: s}
	if !m.ByUsage && m.Pods == nil && m.Resource != string(corev1.ResourcePods) && !s.changesUnderWay {
		return a
	}
	a.freed, a.added = make([]int64, len(s.Pods)), make([]int64, len(s.Pods))
	for _, of := range []*[]int64{&a.used, &a.certain, &a.uncertain, &a.unsettled} {
		*of = make([]int64, len(s.Nodes))
	}
	if m.ByUsage {
		a.measureUsage(t)
		if s.changesUnderWay {
			a.countDepartures()
		}
	} else {
		a.sumRequests()
	}
	return a
}

// countsPods reports whether the amounts are numbers of pods.
func (a *Amounts) countsPods() bool {
	return !a.Measure.ByUsage && a.Measure.Resource == string(corev1.ResourcePods)
}

func (a *Amounts) countsPod(p *Pod) bool {
	return a.Measure.Pods == nil || a.Measure.Pods.Matches(labels.Set(p.Object.Labels))
}

func (a *Amounts) sumRequests() {
	for i := range a.snapshot.Pods {
		p := &a.snapshot.Pods[i]
		if p.Terminal || !a.countsPod(p) {
			continue
		}
		size := p.Requests.Get(a.Measure.Resource)
		if a.countsPods() {
			size = 1
		}
		a.added[i] = size
		switch nominated := a.snapshot.NominatedNode(p); {
		case p.Departure == Leaves:
		case nominated != nil:
			a.used[nominated.ID] = BoundedSum(a.used[nominated.ID], size)
			a.unsettle(nominated.ID, size)
		case p.Node != NoNode:
			a.freed[i] = size
			if a.used[p.Node] = BoundedSum(a.used[p.Node], size); p.Departure == Overdue {
				a.unsettle(p.Node, size)
			}
		}
	}
	for n := range a.used {
		a.certain[n] = a.used[n] - a.unsettled[n]
	}
}

// measureUsage fills the amounts from measured usage. A pod without a measurement frees nothing
// on its node and adds its assumed usage to another node.
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
		if p.Terminal || !a.countsPod(p) {
			a.quality[i] = Measured // the pod does not count, which is certain
			continue
		}
		use, known := l.PodUsed(PodID(i), resource)
		a.added[i], a.quality[i] = use, known
		if known >= Estimated {
			if a.freed[i] = use; a.Measure.Pods == nil { // otherwise the amounts of the pods add up to that of the node
				a.freed[i] = l.PodFrees(PodID(i), resource)
			}
		}
		if a.Measure.Pods != nil && p.Node != NoNode {
			a.addPodUse(p.Node, use, known)
		}
	}
}

// unsettle counts an amount that may be on the node later or not: no pod leaves the node because of it, and no pod
// takes its room.
func (a *Amounts) unsettle(n NodeID, amount int64) {
	a.uncertain[n] = BoundedSum(a.uncertain[n], amount)
	a.unsettled[n] = BoundedSum(a.unsettled[n], amount)
}

// countDepartures takes the measured usage of pods that leave off their nodes. If the usage of such a pod is unknown,
// it is uncertain how much of the node's usage will remain.
func (a *Amounts) countDepartures() {
	l, resource := a.snapshot.Usage, a.Measure.Resource
	for i := range a.snapshot.Pods {
		p := &a.snapshot.Pods[i]
		to := p.Node
		if n := a.snapshot.NominatedNode(p); n != nil {
			to = n.ID
		}
		if to == NoNode || p.Terminal || p.Node != NoNode && p.Departure == Stays || !a.countsPod(p) || a.used[to] == unknownAmount {
			continue
		}
		use, quality := l.PodUsed(p.ID, resource)
		if p.Node != NoNode && quality >= Estimated && a.Measure.Pods == nil {
			use = l.PodFrees(p.ID, resource)
		}
		switch {
		case p.Node == NoNode:
			a.used[to] = BoundedSum(a.used[to], use)
			a.unsettle(to, use)
		case quality == Unknown:
			a.unsettle(to, a.used[to]-a.uncertain[to])
			a.certain[to] = 0
		case p.Departure == Overdue:
			a.unsettle(to, use)
			if quality >= Estimated {
				a.certain[to] -= use
			}
		default:
			a.freed[i] = 0
			a.used[to] = max(0, a.used[to]-use)
			if quality >= Estimated {
				a.certain[to] -= use
			}
		}
	}
}

// addPodUse adds a pod to the sums of its node. If the usage of one counted pod is unknown, the
// sum for the node is unknown.
func (a *Amounts) addPodUse(n NodeID, use int64, known UsageQuality) {
	if a.used[n] == unknownAmount || known == Unknown {
		a.used[n] = unknownAmount
		return
	}
	a.used[n] = BoundedSum(a.used[n], use)
	if known >= Estimated {
		a.certain[n] = BoundedSum(a.certain[n], use)
	}
}

func (s *Snapshot) usageIsFresh(n NodeID, t UsageRequirements) bool {
	age := s.TakenAt.Sub(s.Usage.MeasuredAt(n))
	return age >= -MaxClockSkew && (t.MaxAge <= 0 || age <= t.MaxAge)
}

// WhyUsageUnknown says why the usage of a node does not meet the requirements.
func (s *Snapshot) WhyUsageUnknown(n NodeID, t UsageRequirements) string {
	switch {
	case s.Usage == nil || s.Usage.MeasuredAt(n).IsZero():
		return "the source did not measure the node"
	case !s.usageIsFresh(n, t):
		return fmt.Sprintf("it was measured %s ago (load.maxAge %s)", s.TakenAt.Sub(s.Usage.MeasuredAt(n)).Round(time.Second), t.MaxAge)
	}
	return "the source did not measure it, or reported an impossible amount"
}

// NodeUsed returns the usage or the requests on a node. certain excludes assumed and uncertain
// parts. known is false if the usage is unknown.
func (a *Amounts) NodeUsed(n NodeID) (used, certain int64, known bool) {
	if a.used == nil {
		used = a.snapshot.Nodes[n].Requested.Get(a.Measure.Resource)
		return used, used, true
	}
	if a.used[n] == unknownAmount {
		return 0, 0, false
	}
	return a.used[n], a.certain[n], true
}

// Uncertain returns the part of NodeUsed that may belong to pods that have already left, that may leave by themselves
// (Departure), or that have not arrived. This part occupies the node, but the planner moves no pod because of it.
func (a *Amounts) Uncertain(n NodeID) int64 {
	if a.uncertain == nil {
		return 0
	}
	return a.uncertain[n]
}

// Unsettled returns the part of Uncertain that belongs to pods that may leave by themselves or arrive.
func (a *Amounts) Unsettled(n NodeID) int64 {
	if a.unsettled == nil {
		return 0
	}
	return a.unsettled[n]
}

// Total returns the whole amount of a node, or 0 if the node does not have the resource. It is the allocatable amount,
// and with ByUsage no more than the capacity.
func (a *Amounts) Total(n NodeID) int64 {
	switch {
	case a.Measure.ByUsage:
		return UsageDenominator(&a.snapshot.Nodes[n].Physical, a.Measure.Resource)
	case a.countsPods():
		return a.snapshot.Nodes[n].AllowedPods
	}
	return a.snapshot.Nodes[n].Allocatable.Get(a.Measure.Resource)
}

// Contribution returns the amount of a pod on a node. For the pod's current node, it is the amount
// that an eviction certainly frees. For any other node, it is the amount that the pod probably adds.
func (a *Amounts) Contribution(p PodID, n NodeID) int64 {
	switch {
	case a.freed == nil:
		return a.snapshot.Pods[p].Requests.Get(a.Measure.Resource)
	case n != NoNode && a.snapshot.Pods[p].Node == n:
		return a.freed[p]
	}
	return a.added[p]
}

// PodQuality returns how reliable the amount of a pod is.
func (a *Amounts) PodQuality(p PodID) UsageQuality {
	if a.quality == nil {
		return Measured
	}
	return a.quality[p]
}

// Coverage counts the nodes in scope, and those of them whose usage is known.
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
