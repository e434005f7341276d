package cluster

import (
	"math/bits"
	"slices"
	"time"
)

// UsageQuality says how it is known what a pod uses.
type UsageQuality uint8

const (
	// Unknown: nobody has measured the pod.
	Unknown UsageQuality = iota
	// BoundAfterSample: it was bound after its node was measured.
	BoundAfterSample
	// Estimated: the source knows nodes only; it is the pod's part, by requests.
	Estimated
	// Measured: the source has measured the pod.
	Measured
)

// ResolvedUsage is what a Usage says, by node and pod, brought from the time of its samples
// to that of the snapshot:
//
//   - a pod that was measured and has left its node since is taken from it, and one
//     that was measured and came lately is added to it, as far as the node's
//     statistic over the window holds the one still and the other not yet;
//   - a pod that was bound after its node was measured, or so shortly before that
//     nobody has measured it yet, is added with what it probably uses: the mean of
//     the other pods of its workload or, where none is known, its requests as scores
//     count them (100m and 200Mi for a container that gives none).
//
// A pod whose newest sample is well behind its node's is unknown.
//
// Where a Usage gives a newest measurement beside the statistic, the higher of the two
// is used, and how far they are apart is in doubt. So is what a pod used that left so
// lately that a rate still holds part of it.
//
// An amount below nothing, or beyond any machine, is unknown, and so is a node that
// is listed twice. Nothing is known of a resource that the Usage does not name.
type ResolvedUsage struct {
	Raw          *Usage
	windowFilled []time.Duration // by node: what its samples fill of the window
	resources    []string
	byResource   map[string]*resourceUse
	measuredAt   []time.Time // by node; zero: not measured
}

// resourceUse is one resource.
type resourceUse struct {
	used    []int64 // by node, with what was added; unknownAmount: unknown
	assumed []int64 // by node, of that: probable use of pods that nobody has measured
	// newest, by node, is the newest measurement where it bounds used, else
	// unknownAmount; lag and newestLag are what of either pods may have taken along that
	// a rate still holds; doubt is how much of used may have left unseen.
	newest, lag, newestLag, uncertain []int64
	quality                           []UsageQuality
	podUsed                           []int64 // by pod: what it uses, or probably uses
}

const unknownAmount = int64(-1)

// maxPlausibleUsage is more than any machine has, in milliCPU or bytes (1Pi).
const maxPlausibleUsage = int64(1) << 50

func isPlausible(n int64) bool { return n >= 0 && n <= maxPlausibleUsage }

// Resources lists the resources of which anything is known, sorted.
func (l *ResolvedUsage) Resources() []string {
	if l == nil {
		return nil
	}
	return l.resources
}

// MeasuredAt is when the node was measured; zero when it was not.
func (l *ResolvedUsage) MeasuredAt(n NodeID) time.Time {
	if l == nil {
		return time.Time{}
	}
	return l.measuredAt[n]
}

// NodeUsed is what a node uses of a resource as the snapshot has it, and how much of
// that is only probable; false when it is not known.
func (l *ResolvedUsage) NodeUsed(n NodeID, resource string) (used, probable int64, known bool) {
	if l == nil || l.byResource[resource] == nil || l.byResource[resource].used[n] == unknownAmount {
		return 0, 0, false
	}
	c := l.byResource[resource]
	return c.used[n], c.assumed[n], true
}

// Uncertain is how much of what a node uses may have left it with pods that were never
// listed: a window that a source remembered holds them still.
func (l *ResolvedUsage) Uncertain(n NodeID, resource string) int64 {
	if l == nil || l.byResource[resource] == nil {
		return 0
	}
	return l.byResource[resource].uncertain[n]
}

// PodUsed is what a pod uses of a resource, or probably uses, and how that is known.
func (l *ResolvedUsage) PodUsed(p PodID, resource string) (int64, UsageQuality) {
	if l == nil || l.byResource[resource] == nil {
		return 0, Unknown
	}
	c := l.byResource[resource]
	return c.podUsed[p], c.quality[p]
}

// usageResolver brings a Usage to the time of a snapshot.
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

// resource of a resource, unknown everywhere at first.
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

// markNodeUnknown makes a node unknown of which two different things are said.
func (r *usageResolver) markNodeUnknown(n NodeID) {
	for _, c := range r.resolved.byResource {
		c.used[n] = unknownAmount
	}
	r.resolved.measuredAt[n] = time.Time{}
}

// readPods takes over what was measured of pods that are still there, and takes from
// their nodes what those used that are not.
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

// maxSampleLag is how far a pod's newest sample may be behind its node's: sources
// leave one out now and then.
const maxSampleLag = time.Minute

// findMeasuredPod is the pod that was measured, or nil. gone says that it has left its node;
// else the sample is too old to say anything. A source that does not know UIDs may
// speak of another pod of the same name.
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

// measuresNodesOnly: nothing can be known of pods but their part of a node.
func (u *Usage) measuresNodesOnly() bool {
	return len(u.Pods) == 0 && u.NodesOnly
}

// estimatePodsFromNodes gives each pod its part of what its node was measured to use, by its
// requests as scores count them, all of the node's usage taken as that of pods.
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
				part, _ := bits.Div64(hi, lo, uint64(sum)) // asks <= sum, so it fits
				c.podUsed[id], c.quality[id] = int64(part), Estimated
			}
		}
	}
}

// assumeUnmeasuredPods get what they probably use, and so do their nodes.
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
