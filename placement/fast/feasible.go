package fast

import (
	"math"
	"math/bits"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// feasibility holds the input of the current prediction and finds the nodes that pass every filter.
type feasibility struct {
	nodeResources
	scratch     *cycle.Scratch
	replacement *cycle.Replacement
	view        *classView
	sampleSize  int                      // how many feasible nodes the scheduler scores
	softSpread  []cycle.SpreadConstraint // soft constraints; empty if their score has no weight

	groupAllowed     []bool   // by node group: the filters that count pods by domain pass it
	openPositions    []uint64 // bit set of the positions of allowed groups
	specialPositions []uint64 // bit set of the positions of special nodes
	feasible         feasibleNodes
}

type feasibleNodes struct {
	count       int
	positions   []int32  // rising; then those of the first window again, plus the number of nodes
	bits        []uint64 // bit set of positions
	countBefore []int32  // by word of bits: number of feasible nodes before it
}

// allowGroups finds the node groups that pass the filters PodTopologySpread and InterPodAffinity,
// and reports whether these groups changed.
func (q *feasibility) allowGroups() (changed bool) {
	r := q.countSharedDomains()
	if len(q.groupAllowed) != maxGroups+6 {
		q.groupAllowed = make([]bool, maxGroups+6) // the last one is noGroup: never allowed
	}
	for g, n := range q.view.groups.nodes {
		ok := passesSpreadOfGroup(&r, int(n)) && filter.PassesInterPodAffinity(&r, int(n), q.view.anti)
		changed = changed || q.groupAllowed[g] != ok
		q.groupAllowed[g] = ok
	}
	return changed
}

// countSharedDomains counts the pods that the filters read in each topology domain that has several
// nodes.
func (q *feasibility) countSharedDomains() cycle.Attempt {
	in, b := q.replacement, q.scratch
	b.MinSpreadCounts = b.MinSpreadCounts[:0]
	for i := range in.Spread.Hard {
		c, least := &in.Spread.Hard[i], int64(0)
		if c.Topology.OneNodePerDomain {
			least = minPodsPerNode(c, in.Spread.HardKeyNodes)
		} else {
			least = b.CountHardSpread(i, c, in.Spread.HardKeyNodes)
		}
		b.MinSpreadCounts = append(b.MinSpreadCounts, least)
	}
	r := cycle.Attempt{Model: q.model, Scratch: b, Replacement: in}
	r.CountTerms(q.view.anti)
	return r
}

// minPodsPerNode returns the smallest pod count of any domain for a hard constraint whose domains
// are single nodes.
func minPodsPerNode(c *cycle.SpreadConstraint, hasKeys []bool) int64 {
	if len(c.Domains) < c.MinDomains {
		return 0
	}
	least, counted := int64(math.MaxInt32), 0
	for _, x := range c.Pods.Nodes {
		if hasKeys[x.Node] && c.CountedNodes[x.Node] {
			least = min(least, int64(x.Pods))
			counted++
		}
	}
	if counted < len(c.Domains) {
		return 0
	}
	return least
}

// passesSpreadOfGroup is the PodTopologySpread filter for the domains that all nodes of a group
// share.
func passesSpreadOfGroup(r *cycle.Attempt, n int) bool {
	for i := range r.Replacement.Spread.Hard {
		c := &r.Replacement.Spread.Hard[i]
		x := c.Topology.Domain[n]
		if x == model.NoDomain || !c.Topology.OneNodePerDomain && int64(r.Scratch.CountsByDomain[i][x])+c.SelfMatch-r.Scratch.MinSpreadCounts[i] > c.MaxSkew {
			return false
		}
	}
	return true
}

// nodesExcludedByPods returns the nodes that a filter rejects because of the node's own pods.
func (q *feasibility) nodesExcludedByPods() (out []cluster.NodeID) {
	for _, t := range q.view.antiByNode {
		for _, x := range t.Pods.Nodes {
			if x.Pods > 0 && t.Topology.Domain[x.Node] != model.NoDomain {
				out = append(out, x.Node)
			}
		}
	}
	hard := q.replacement.Spread.Hard
	for i := range hard {
		c := &hard[i]
		if !c.Topology.OneNodePerDomain {
			continue
		}
		for _, x := range c.Pods.Nodes {
			if q.replacement.Spread.HardKeyNodes[x.Node] && c.CountedNodes[x.Node] && int64(x.Pods)+c.SelfMatch-q.scratch.MinSpreadCounts[i] > c.MaxSkew {
				out = append(out, x.Node)
			}
		}
	}
	return out
}

func (q *feasibility) isFeasible(n cluster.NodeID) bool {
	place, r := q.position[n], q.replacement.CheckedRequests
	return q.groupAllowed[q.view.groups.group[place]] && q.free[place].milliCPU >= requestThreshold(r.MilliCPU) &&
		q.free[place].bytes >= requestThreshold(r.MemoryBytes) && !slices.Contains(q.nodesExcludedByPods(), n)
}

// requestThreshold returns the free amount that a request needs. A request of 0 always fits.
func requestThreshold(v int64) int64 {
	if v <= 0 {
		return noRequest
	}
	return min(v, -noRequest)
}

// findFeasible lists the feasible nodes in O(nodes) time.
func (q *feasibility) findFeasible() {
	f, count := &q.feasible, 0
	milliCPU, bytes := requestThreshold(q.replacement.CheckedRequests.MilliCPU), requestThreshold(q.replacement.CheckedRequests.MemoryBytes)
	open := q.findOpenPositions()
	for _, n := range q.nodesExcludedByPods() {
		place := q.position[n]
		open[place>>6] &^= 1 << (place & 63)
	}
	modest := milliCPU <= q.mostMilliCPU/ampleFraction && bytes <= q.mostBytes/ampleFraction
	for block := range f.bits {
		low, word := block<<6, uint64(0)
		if modest {
			word = q.amplePositions[block] & open[block]
		}
		for left := open[block] &^ word; left != 0; left &= left - 1 {
			x := &q.free[low+bits.TrailingZeros64(left)] // no branch, because branch prediction fails here
			word |= left & -left &^ uint64(((x.milliCPU-milliCPU)|(x.bytes-bytes))>>63)
		}
		f.bits[block], f.countBefore[block] = word, int32(count)
		at := f.positions[count:]
		count += bits.OnesCount64(word)
		if word == math.MaxUint64 {
			at = at[:64]
			for k := range at {
				at[k] = int32(low + k)
			}
			continue
		}
		for k := 0; word != 0; k++ {
			at[k] = int32(low + bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
	f.count = count
}

func (q *feasibility) findOpenPositions() []uint64 {
	land := q.view.groups
	q.openPositions = append(q.openPositions[:0], land.all...)
	for g := range land.nodes {
		if q.groupAllowed[g] {
			continue
		}
		for i, places := range land.bits[g] {
			q.openPositions[i] &^= places
		}
	}
	return q.openPositions
}

// wrapFeasible appends the first feasible nodes again, because sample windows wrap around at the
// end of the node order.
func (q *feasibility) wrapFeasible() {
	f, n := &q.feasible, int32(len(q.position))
	for i, place := range f.positions[:q.sampleSize] {
		f.positions[f.count+i] = place + n
	}
}

// indexOf returns the index of a position among the feasible nodes, or where it would be inserted.
func (f *feasibleNodes) indexOf(place int32) (at int, found bool) {
	return slices.BinarySearch(f.positions[:f.count], place)
}

// isOrdinary reports whether the node at a position belongs to the group and is not special.
func (q *feasibility) isOrdinary(place int32, g uint8) bool {
	return q.view.groups.group[place] == g && q.specialPositions[place>>6]>>(place&63)&1 == 0
}
