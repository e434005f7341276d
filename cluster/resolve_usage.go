package cluster

import (
	"math/bits"
	"slices"
	"time"
)

// usageResolver updates a Usage to the time of a snapshot.
type usageResolver struct {
	snapshot *Snapshot
	usage    *Usage
	resolved *ResolvedUsage
	largest  Resources // the largest capacities of a node; no pod can use more
}

func (s *Snapshot) resolveUsage(u *Usage) *ResolvedUsage {
	r := &usageResolver{snapshot: s, usage: u, resolved: &ResolvedUsage{Raw: u, byResource: map[string]*resourceUse{},
		measuredAt: make([]time.Time, len(s.Nodes)), windowFilled: make([]time.Duration, len(s.Nodes))}}
	r.readNodes()
	r.readPods()
	r.resolveUncertainty()
	for _, name := range r.resolved.resources {
		c := r.resolved.byResource[name]
		if u.NodesOnly && len(u.Pods) == 0 {
			r.estimatePodsFromNodes(c, name)
		}
		if name != "cpu" && name != "memory" {
			r.shareRatios(c)
		}
		r.assumeUnmeasuredPods(c, name)
		c.measuresPods = slices.ContainsFunc(c.quality, func(q UsageQuality) bool { return q >= Estimated })
	}
	return r.resolved
}

// shareRatios computes what each pod frees on its node. Ratios of pods may overlap in time, so together they may exceed
// the ratio of the node. Then each pod frees its share of the certain part of the node's ratio.
func (r *usageResolver) shareRatios(c *resourceUse) {
	c.podFrees = slices.Clone(c.podUsed)
	for i := range r.snapshot.Nodes {
		var sum int64
		for _, id := range r.snapshot.Nodes[i].Pods {
			if c.quality[id] >= Estimated {
				sum = BoundedSum(sum, c.podUsed[id])
			}
		}
		whole := max(0, c.used[i]-c.uncertain[i])
		if c.used[i] == unknownAmount || sum <= whole {
			continue
		}
		for _, id := range r.snapshot.Nodes[i].Pods {
			if c.quality[id] >= Estimated {
				c.podFrees[id] = shareOf(whole, c.podUsed[id], sum)
			}
		}
	}
}

// shareOf returns whole * part / sum. The part must not exceed the sum, which must be positive.
func shareOf(whole, part, sum int64) int64 {
	hi, lo := bits.Mul64(uint64(whole), uint64(part))
	share, _ := bits.Div64(hi, lo, uint64(sum))
	return int64(share)
}

// resourceUsage returns the usage of a resource. For a new resource, the usage of all nodes and pods is unknown.
func (r *usageResolver) resourceUsage(name string) *resourceUse {
	c := r.resolved.byResource[name]
	if c == nil {
		nodes := func() []int64 { return make([]int64, len(r.snapshot.Nodes)) }
		c = &resourceUse{nodes(), nodes(), nodes(), nodes(), nodes(), nodes(), make([]UsageQuality, len(r.snapshot.Pods)),
			make([]int64, len(r.snapshot.Pods)), nil, false}
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
	capacities := make([]Resources, len(r.snapshot.Nodes))
	for i := range capacities {
		capacity := ResourcesOf(r.snapshot.Nodes[i].Object.Status.Capacity)
		capacities[i] = capacity
		r.largest.MilliCPU = max(r.largest.MilliCPU, capacity.MilliCPU)
		r.largest.MemoryBytes = max(r.largest.MemoryBytes, capacity.MemoryBytes)
	}
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
			c := r.resourceUsage(name)
			if seen[n.ID] || !isPlausible(&capacities[n.ID], name, amount) {
				c.used[n.ID] = unknownAmount
				continue
			}
			c.used[n.ID] = amount
			if newest, given := m.Newest[name]; given && isPlausible(&capacities[n.ID], name, newest) {
				c.newest[n.ID] = newest
			}
		}
		if seen[n.ID] { // the node is listed twice
			for _, c := range r.resolved.byResource {
				c.used[n.ID] = unknownAmount
			}
			r.resolved.measuredAt[n.ID] = time.Time{}
			continue
		}
		seen[n.ID] = true
		if r.resolved.windowFilled[n.ID] = secondsToDuration(r.usage.WindowSeconds); m.SpanSeconds > 0 {
			r.resolved.windowFilled[n.ID] = min(r.resolved.windowFilled[n.ID], secondsToDuration(m.SpanSeconds))
		}
		if r.resolved.measuredAt[n.ID] = m.At; m.At.IsZero() {
			r.resolved.measuredAt[n.ID] = r.usage.SampledAt
		}
	}
}

// readPods adopts the measurements of pods that are still on their nodes. It subtracts the usage of
// pods that have left from their former nodes.
func (r *usageResolver) readPods() {
	for i := range r.usage.Pods {
		m := &r.usage.Pods[i]
		p, hasLeft := r.findMeasuredPod(m)
		for name, amount := range m.Used {
			c := r.resourceUsage(name)
			switch {
			case !isPlausible(&r.largest, name, amount):
			case hasLeft:
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

// maxSampleLag limits how much older than its node's sample a pod's newest sample may be. Usage
// sources sometimes skip a pod.
const maxSampleLag = time.Minute

// findMeasuredPod returns the pod that was measured. It returns nil if the pod has left its node, or
// if the sample is too old. A source without UIDs may have measured an earlier pod of the same name.
func (r *usageResolver) findMeasuredPod(m *PodUsage) (p *Pod, hasLeft bool) {
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

// estimatePodsFromNodes distributes the measured usage of each node among its pods, in proportion
// to the requests that scores use. It treats the whole usage of the node as usage of pods.
func (r *usageResolver) estimatePodsFromNodes(c *resourceUse, name string) {
	for i := range r.snapshot.Nodes {
		n := &r.snapshot.Nodes[i]
		if c.used[i] == unknownAmount {
			continue
		}
		var sum int64
		for _, id := range n.Pods {
			if p := &r.snapshot.Pods[id]; !r.boundTooLate(p) {
				sum = BoundedSum(sum, p.NonZero.Get(name))
			}
		}
		for _, id := range n.Pods {
			p := &r.snapshot.Pods[id]
			if request := p.NonZero.Get(name); request > 0 && !r.boundTooLate(p) {
				c.podUsed[id], c.quality[id] = shareOf(c.used[i], request, sum), Estimated
			}
		}
	}
}

// assumeUnmeasuredPods assumes a usage for each pod without a measurement. If the pod was bound
// recently, it adds the assumed usage to the pod's node.
func (r *usageResolver) assumeUnmeasuredPods(c *resourceUse, name string) {
	type mean struct{ sum, pods int64 }
	means := make([]mean, len(r.snapshot.Workloads)) // by workload
	for i := range r.snapshot.Pods {
		if p := &r.snapshot.Pods[i]; c.quality[i] != Unknown && p.Workload != NoWorkload {
			means[p.Workload].sum = BoundedSum(means[p.Workload].sum, c.podUsed[i])
			means[p.Workload].pods++
		}
	}
	for i := range r.snapshot.Pods {
		p := &r.snapshot.Pods[i]
		if c.quality[i] != Unknown || p.Terminal {
			continue
		}
		c.podUsed[i] = p.NonZero.Get(name)
		if p.Workload != NoWorkload && means[p.Workload].pods > 0 {
			c.podUsed[i] = means[p.Workload].sum / means[p.Workload].pods
		}
		if p.Node != NoNode && r.boundTooLate(p) {
			c.quality[i] = BoundAfterSample
			if c.used[p.Node] != unknownAmount {
				c.used[p.Node] = BoundedSum(c.used[p.Node], c.podUsed[i])
				c.assumed[p.Node] = BoundedSum(c.assumed[p.Node], c.podUsed[i])
			}
		}
	}
}
