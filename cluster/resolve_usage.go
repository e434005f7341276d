package cluster

import (
	"math/bits"
	"slices"
	"time"
)

// UsageQuality says how the usage of a pod is known.
type UsageQuality uint8

const (
	// Unknown means that the pod was not measured.
	Unknown UsageQuality = iota
	// BoundAfterSample means that the pod was bound after its node was measured. Its usage is
	// assumed.
	BoundAfterSample
	// Estimated means that the source measures nodes only. The value is the pod's share by
	// requests.
	Estimated
	// Measured means that the source measured the pod.
	Measured
)

// ResolvedUsage is a Usage by node and pod, updated from the time of its samples to the time of
// the snapshot:
//
//   - If a measured pod has left its node, its usage is subtracted, as far as the node's statistic
//     includes it. If a measured pod arrived recently, the part that the statistic lacks is added.
//   - If a pod was bound after its node was measured, or too shortly before to be measured itself,
//     its assumed usage is added. That is the mean of the other pods of its workload. If none of
//     them is known, it is the pod's requests as scores count them (100m and 200Mi for a container
//     without requests).
//
// If a pod's newest sample is much older than its node's, the pod is unknown.
//
// If a Usage gives a newest measurement besides the statistic, the higher of the two counts,
// and the difference is uncertain. The usage of a pod that left is also uncertain while a rate
// still includes part of it.
//
// A negative amount, or one that no machine can have, is unknown. So is a node that is listed
// twice, and a resource that the Usage does not name.
type ResolvedUsage struct {
	Raw          *Usage
	windowFilled []time.Duration // by node: how much of the window its samples cover
	resources    []string
	byResource   map[string]*resourceUse
	measuredAt   []time.Time // by node; zero: not measured
}

// resourceUse is the usage of one resource.
type resourceUse struct {
	used    []int64 // by node, assumed usage included; unknownAmount: unknown
	assumed []int64 // by node, the assumed part of used
	// Indexed by node. newest is the newest measurement if it limits used, else unknownAmount.
	// lag and newestLag are how much of used and newest a rate may still include for pods that
	// left. uncertain is how much of used may have left without being seen.
	newest, lag, newestLag, uncertain []int64
	quality                           []UsageQuality
	podUsed                           []int64 // by pod: measured, estimated or assumed usage
}

const unknownAmount = int64(-1)

// maxPlausibleUsage is more than any machine has, in milliCPU or bytes (1Pi).
const maxPlausibleUsage = int64(1) << 50

func isPlausible(n int64) bool { return n >= 0 && n <= maxPlausibleUsage }

// Resources returns the names of the measured resources, sorted.
func (l *ResolvedUsage) Resources() []string {
	if l == nil {
		return nil
	}
	return l.resources
}

// MeasuredAt returns when the node was measured, or the zero time if it was not.
func (l *ResolvedUsage) MeasuredAt(n NodeID) time.Time {
	if l == nil {
		return time.Time{}
	}
	return l.measuredAt[n]
}

// NodeUsed returns a node's usage of a resource at the time of the snapshot, and the assumed
// part of it. known is false if the usage is unknown.
func (l *ResolvedUsage) NodeUsed(n NodeID, resource string) (used, probable int64, known bool) {
	if l == nil || l.byResource[resource] == nil || l.byResource[resource].used[n] == unknownAmount {
		return 0, 0, false
	}
	c := l.byResource[resource]
	return c.used[n], c.assumed[n], true
}

// Uncertain returns how much of a node's usage may have left with pods that were never listed.
// A window with samples from the source's history still includes them.
func (l *ResolvedUsage) Uncertain(n NodeID, resource string) int64 {
	if l == nil || l.byResource[resource] == nil {
		return 0
	}
	return l.byResource[resource].uncertain[n]
}

// PodUsed returns a pod's usage of a resource, and how it is known.
func (l *ResolvedUsage) PodUsed(p PodID, resource string) (int64, UsageQuality) {
	if l == nil || l.byResource[resource] == nil {
		return 0, Unknown
	}
	c := l.byResource[resource]
	return c.podUsed[p], c.quality[p]
}

// usageResolver updates a Usage to the time of a snapshot.
type usageResolver struct {
	snapshot *Snapshot
	usage    *Usage
	resolved *ResolvedUsage
}

func (s *Snapshot) resolveUsage(u *Usage) *ResolvedUsage {
	r := &usageResolver{s, u, &ResolvedUsage{Raw: u, byResource: map[string]*resourceUse{}, measuredAt: make([]time.Time, len(s.Nodes)), windowFilled: make([]time.Duration, len(s.Nodes))}}
	r.readNodes()
	r.readPods()
	r.resolveUncertainty()
	for _, name := range r.resolved.resources {
		c := r.resolved.byResource[name]
		if u.measuresNodesOnly() {
			r.estimatePodsFromNodes(c, name)
		}
		r.assumeUnmeasuredPods(c, name)
	}
	return r.resolved
}

// resource returns the usage of a resource. It is created with all nodes and pods unknown.
func (r *usageResolver) resource(name string) *resourceUse {
	c := r.resolved.byResource[name]
	if c == nil {
		nodes := func() []int64 { return make([]int64, len(r.snapshot.Nodes)) }
		c = &resourceUse{nodes(), nodes(), nodes(), nodes(), nodes(), nodes(), make([]UsageQuality, len(r.snapshot.Pods)), make([]int64, len(r.snapshot.Pods))}
		for i := range c.used {
			c.used[i], c.newest[i] = unknownAmount, unknownAmount
		}
		r.resolved.byResource[name] = c
		r.resolved.resources = append(r.resolved.resources, name)
		slices.Sort(r.resolved.resources)
	}
	return c
}

func (r *usageResolver) readNodes() {
	seen := make([]bool, len(r.snapshot.Nodes))
	for i := range r.usage.Nodes {
		m := &r.usage.Nodes[i]
		n := r.snapshot.NodeByName(m.Name)
		if n == nil {
			continue
		}
		for name, amount := range m.Used {
			if !isShareOfNode(name) {
				continue
			}
			c := r.resource(name)
			switch {
			case seen[n.ID] || !isPlausible(amount):
				c.used[n.ID] = unknownAmount
			default:
				c.used[n.ID] = amount
				if newest, given := m.Newest[name]; given && isPlausible(newest) {
					c.newest[n.ID] = newest
				}
			}
		}
		if seen[n.ID] {
			r.markNodeUnknown(n.ID)
			continue
		}
		seen[n.ID] = true
		if r.resolved.windowFilled[n.ID] = seconds(r.usage.WindowSeconds); m.SpanSeconds > 0 {
			r.resolved.windowFilled[n.ID] = min(r.resolved.windowFilled[n.ID], seconds(m.SpanSeconds))
		}
		if r.resolved.measuredAt[n.ID] = m.At; m.At.IsZero() {
			r.resolved.measuredAt[n.ID] = r.usage.SampledAt
		}
	}
}

// markNodeUnknown discards a node that is listed twice.
func (r *usageResolver) markNodeUnknown(n NodeID) {
	for _, c := range r.resolved.byResource {
		c.used[n] = unknownAmount
	}
	r.resolved.measuredAt[n] = time.Time{}
}

// readPods takes over the measurements of pods that are still on their nodes, and subtracts
// those of pods that left.
func (r *usageResolver) readPods() {
	for i := range r.usage.Pods {
		m := &r.usage.Pods[i]
		p, gone := r.findMeasuredPod(m)
		for name, amount := range m.Used {
			c := r.resource(name)
			switch {
			case !isPlausible(amount):
			case gone:
				r.subtractLeftPod(c, name, m, amount)
			case p != nil && c.quality[p.ID] == Unknown:
				c.podUsed[p.ID], c.quality[p.ID] = amount, Measured
				if m.Estimated {
					c.quality[p.ID] = Estimated
				}
				r.addArrivedPod(c, p, amount)
			}
		}
	}
}

// maxSampleLag is how much older than its node's sample a pod's newest sample may be. Sources
// sometimes skip a pod.
const maxSampleLag = time.Minute

// findMeasuredPod returns the pod that was measured. If it returns nil, gone says whether the
// pod left its node; if gone is false, the sample is too old. A source without UIDs may have
// measured another pod of the same name.
func (r *usageResolver) findMeasuredPod(m *PodUsage) (p *Pod, gone bool) {
	if m.UID != "" {
		p = r.snapshot.PodByUID(m.UID)
	} else if p = r.snapshot.PodByKey(m.Namespace + "/" + m.Name); p != nil && p.Node != NoNode {
		if m.Node != "" && r.snapshot.Nodes[p.Node].Name != m.Node || r.boundAfterSample(p, 0) {
			return nil, true
		}
	}
	if p == nil || p.Node == NoNode || p.Terminal {
		return nil, true
	}
	if at := r.resolved.measuredAt[p.Node]; !m.At.IsZero() && at.Sub(m.At) > maxSampleLag {
		return nil, false
	}
	return p, false
}

// measuresNodesOnly reports whether the usage of pods can only be estimated from their nodes.
func (u *Usage) measuresNodesOnly() bool {
	return len(u.Pods) == 0 && u.NodesOnly
}

// estimatePodsFromNodes divides the measured usage of each node among its pods in proportion to
// their requests as scores count them. It counts all usage of the node as usage of pods.
func (r *usageResolver) estimatePodsFromNodes(c *resourceUse, name string) {
	for i := range r.snapshot.Nodes {
		n := &r.snapshot.Nodes[i]
		if c.used[i] == unknownAmount {
			continue
		}
		var sum int64
		for _, id := range n.Pods {
			if p := &r.snapshot.Pods[id]; !r.boundTooLate(p) {
				sum += p.NonZero.Get(name)
			}
		}
		for _, id := range n.Pods {
			p := &r.snapshot.Pods[id]
			if asks := p.NonZero.Get(name); asks > 0 && !r.boundTooLate(p) {
				hi, lo := bits.Mul64(uint64(c.used[i]), uint64(asks))
				part, _ := bits.Div64(hi, lo, uint64(sum)) // request <= sum, so the quotient fits
				c.podUsed[id], c.quality[id] = int64(part), Estimated
			}
		}
	}
}

// assumeUnmeasuredPods adds the assumed usage of pods without a measurement to the pods and
// their nodes.
func (r *usageResolver) assumeUnmeasuredPods(c *resourceUse, name string) {
	type mean struct{ sum, pods int64 }
	of := make([]mean, len(r.snapshot.Workloads))
	for i := range r.snapshot.Pods {
		if p := &r.snapshot.Pods[i]; c.quality[i] != Unknown && p.Workload != NoWorkload {
			of[p.Workload].sum += c.podUsed[i]
			of[p.Workload].pods++
		}
	}
	for i := range r.snapshot.Pods {
		p := &r.snapshot.Pods[i]
		if c.quality[i] != Unknown || p.Terminal {
			continue
		}
		c.podUsed[i] = p.NonZero.Get(name)
		if p.Workload != NoWorkload && of[p.Workload].pods > 0 {
			c.podUsed[i] = of[p.Workload].sum / of[p.Workload].pods
		}
		if p.Node != NoNode && r.boundTooLate(p) {
			c.quality[i] = BoundAfterSample
			if c.used[p.Node] != unknownAmount {
				c.used[p.Node] += c.podUsed[i]
				c.assumed[p.Node] += c.podUsed[i]
			}
		}
	}
}
