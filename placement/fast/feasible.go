package fast

import (
	"math"
	"math/bits"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// These constants define the sample size of kube-scheduler (pkg/scheduler, numFeasibleNodesToFind).
// A sample has at least minSampleNodes feasible nodes. If no percentage is configured, the
// scheduler uses 50 % of the nodes, minus 1 % per 125 nodes, but at least 5 %.
const (
	minSampleNodes   = 100
	minSamplePercent = 5
	maxSamplePercent = 50
	nodesPerPercent  = 125
)

// SampleSize returns how many feasible nodes the scheduler looks for in a cluster of that many
// nodes before it stops. percentage is percentageOfNodesToScore; 0 for the adaptive default.
func SampleSize(nodes, percentage int) int {
	if nodes < minSampleNodes {
		return nodes
	}
	if percentage == 0 {
		percentage = max(maxSamplePercent-nodes/nodesPerPercent, minSamplePercent)
	}
	return max(nodes*percentage/100, minSampleNodes)
}

// podToPlace is the replacement that the current prediction places, with what the filters and scores read about it.
type podToPlace struct {
	replacement *cycle.Replacement
	victim      cluster.PodID // whose replacement is placed
	view        *classView
	sampleSize  int                      // how many feasible nodes the scheduler scores
	softSpread  []cycle.SpreadConstraint // soft constraints; empty if their score has no weight
	findsTwice  bool                     // several nodes may be feasible in only one state of the victim
	scratch     *cycle.Scratch           // pods by domain, as the constraints and terms of the replacement count them
}

// feasibleNodes finds the nodes that pass every filter.
type feasibleNodes struct {
	*parts
	groupAllowed  []bool   // by node group: the filters that count pods by domain pass it
	openPositions []uint64 // bit set of the positions of allowed groups
	all           []int32  // every position

	count       int
	positions   []int32  // rising; then those of the first window again, plus the number of nodes
	bits        []uint64 // bit set of positions
	countBefore []int32  // by word of bits: number of feasible nodes before it
}

// allowGroups finds the node groups that pass the filters PodTopologySpread and InterPodAffinity,
// and reports whether these groups changed. If the filters examine each node, every group is allowed.
func (f *feasibleNodes) allowGroups() (changed bool) {
	each := f.pod.view.checksNodes
	var r cycle.Attempt
	if !each {
		r = f.countSharedDomains()
	}
	f.groupAllowed = cycle.ResizeSlice(f.groupAllowed, len(f.pod.view.groups.nodes))
	for g, n := range f.pod.view.groups.nodes {
		ok := each || filter.PassesTopologySpread(&r, int(n), false) && filter.PassesInterPodAffinity(&r, int(n), f.pod.view.anti)
		changed = changed || f.groupAllowed[g] != ok
		f.groupAllowed[g] = ok
	}
	return changed
}

// countSharedDomains counts the pods that the filters read in each topology domain that has several
// nodes.
func (f *feasibleNodes) countSharedDomains() cycle.Attempt {
	in, b := f.pod.replacement, f.pod.scratch
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
	r := cycle.Attempt{Model: f.nodes.model, Scratch: b, Replacement: in}
	r.CountTerms(f.pod.view.anti)
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

// nodesExcludedByPods returns the nodes that a filter rejects because of the node's own pods.
func (f *feasibleNodes) nodesExcludedByPods() (out []cluster.NodeID) {
	if f.pod.view.checksNodes {
		return nil
	}
	for _, t := range f.pod.view.antiByNode {
		for _, x := range t.Pods.Nodes {
			if x.Pods > 0 && t.Topology.Domain[x.Node] != model.NoDomain {
				out = append(out, x.Node)
			}
		}
	}
	hard := f.pod.replacement.Spread.Hard
	for i := range hard {
		c := &hard[i]
		if !c.Topology.OneNodePerDomain {
			continue
		}
		for _, x := range c.Pods.Nodes {
			if f.pod.replacement.Spread.HardKeyNodes[x.Node] && c.CountedNodes[x.Node] && int64(x.Pods)+c.SelfMatch-f.pod.scratch.MinSpreadCounts[i] > c.MaxSkew {
				out = append(out, x.Node)
			}
		}
	}
	return out
}

// isFeasible reports whether a node passes the filters. It may only be called if podToPlace.findsTwice is false.
func (f *feasibleNodes) isFeasible(n cluster.NodeID) bool {
	place := f.nodes.position[n]
	milliCPU, bytes := f.thresholds()
	return f.groupAllowed[f.pod.view.groups.group[place]] && f.pod.view.open[place>>6]>>(place&63)&1 != 0 &&
		f.nodes.free[place].milliCPU >= milliCPU && f.nodes.free[place].bytes >= bytes &&
		f.pod.view.hasOthers(int(place)) && !slices.Contains(f.nodesExcludedByPods(), n)
}

// thresholds returns the free CPU and memory that the replacement needs.
func (f *feasibleNodes) thresholds() (milliCPU, bytes int64) {
	r := f.pod.replacement.CheckedRequests
	if r == nil { // the filter is disabled, also for nodes without a free pod slot
		return noPodSlot, noRequest
	}
	return requestThreshold(r.MilliCPU), requestThreshold(r.MemoryBytes)
}

// requestThreshold returns the free amount that a request needs. A request of 0 always fits.
func requestThreshold(v int64) int64 {
	if v <= 0 {
		return noRequest
	}
	return min(v, -noRequest)
}

// find lists the feasible nodes in O(nodes) time.
func (f *feasibleNodes) find() {
	count, view := 0, f.pod.view
	var r cycle.Attempt
	if view.checksNodes {
		r = cycle.NewAttempt(f.nodes.model, f.pod.scratch, f.pod.replacement, f.pod.victim)
	}
	milliCPU, bytes := f.thresholds()
	open := f.findOpenPositions()
	for _, n := range f.nodesExcludedByPods() {
		place := f.nodes.position[n]
		open[place>>6] &^= 1 << (place & 63)
	}
	modest := milliCPU <= f.nodes.mostMilliCPU/ampleFraction && bytes <= f.nodes.mostBytes/ampleFraction
	for block := range f.bits {
		low, word := block<<6, uint64(0)
		if modest {
			word = f.nodes.amplePositions[block] & open[block]
		}
		for left := open[block] &^ word; left != 0; left &= left - 1 {
			x := &f.nodes.free[low+bits.TrailingZeros64(left)] // no branch, because branch prediction fails here
			word |= left & -left &^ uint64(((x.milliCPU-milliCPU)|(x.bytes-bytes))>>63)
		}
		for left := word; left != 0 && (view.checksNodes || len(view.others) > 0); left &= left - 1 {
			place := low + bits.TrailingZeros64(left)
			n := int(f.nodes.model.NodeOrder[place])
			if !view.hasOthers(place) || view.checksNodes && filter.RefusedBy(&r, n) != "" {
				word &^= left & -left
			}
		}
		f.bits[block], f.countBefore[block] = word, int32(count)
		at := f.positions[count:]
		count += bits.OnesCount64(word)
		if word == math.MaxUint64 {
			copy(at, f.all[low:low+64])
			continue
		}
		for k := 0; word != 0; k++ {
			at[k] = int32(low + bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
	f.count = count
	if len(f.nodes.model.Nominated) > 0 {
		f.checkNominated()
	}
}

// findOpenPositions returns the positions whose nodes are compared with the replacement.
func (f *feasibleNodes) findOpenPositions() []uint64 {
	groups := f.pod.view.groups
	f.openPositions = append(f.openPositions[:0], f.pod.view.open...)
	for g := range groups.nodes {
		if f.groupAllowed[g] {
			continue
		}
		open := f.openPositions[groups.firstWord[g]:]
		for i, places := range groups.bits[g] {
			open[i] &^= places
		}
	}
	return f.openPositions
}

// checkNominated removes the nodes on which the pod does not fit together with the pods nominated to them.
func (f *feasibleNodes) checkNominated() {
	r := cycle.NewAttempt(f.nodes.model, f.pod.scratch, f.pod.replacement, f.pod.victim)
	for n := range f.nodes.model.Nominated {
		place := f.nodes.position[n]
		if f.bits[place>>6]>>(place&63)&1 != 0 && filter.RefusedWithNominatedPods(&r, n) != "" {
			f.toggle(place)
		}
	}
}

// wrap appends the first feasible nodes again, because sample windows wrap around at the
// end of the node order.
func (f *feasibleNodes) wrap() {
	n := int32(len(f.nodes.position))
	for i, place := range f.positions[:f.pod.sampleSize] {
		f.positions[f.count+i] = place + n
	}
}

// indexOf returns the index of a position among the feasible nodes, or where it would be inserted.
func (f *feasibleNodes) indexOf(place int32) (at int, found bool) {
	return slices.BinarySearch(f.positions[:f.count], place)
}

// toggle adds the node at a position to the feasible nodes, or removes it. The indexes from `from` on change by `by`.
func (f *feasibleNodes) toggle(place int32) (from, by int32) {
	at, found := f.indexOf(place)
	if from, by = int32(at), 1; found {
		copy(f.positions[at:], f.positions[at+1:f.count])
		from, by = from+1, -1
	} else {
		copy(f.positions[at+1:], f.positions[at:f.count])
		f.positions[at] = place
	}
	f.count += int(by)
	f.bits[place>>6] ^= 1 << (place & 63)
	for i := place>>6 + 1; i < int32(len(f.countBefore)); i++ {
		f.countBefore[i] += by
	}
	return from, by
}

// startsCovering returns the first and last start whose windows contain the node. The first start
// may be negative: the window then begins at the end of the node order.
func (f *feasibleNodes) startsCovering(at int32) (from, to int32) {
	size := int32(f.pod.sampleSize)
	if at >= size {
		return f.positions[at-size] + 1, f.positions[at]
	}
	return f.positions[int(at)+f.count-f.pod.sampleSize] - int32(len(f.nodes.position)) + 1, f.positions[at]
}

// firstStartWith returns the first start position whose window contains the node. The last one is
// the node's own position.
func (f *feasibleNodes) firstStartWith(at int32) int32 {
	from, _ := f.startsCovering(at)
	return max(from, 0)
}

// set returns the feasible nodes as a set that is valid until the next use of the buffers.
func (f *feasibleNodes) set(x *stateBuffers) prediction.NodeSet {
	x.feasible = append(x.feasible[:0], f.bits...)
	return prediction.NodeSet{Count: f.count, Bits: x.feasible, Position: f.nodes.position, Order: f.nodes.model.NodeOrder}
}

// specialNode is a node that the predictor scores individually: the victim's node, or a node with
// pods that a score counts per node.
type specialNode struct {
	node          cluster.NodeID
	feasibleIndex int32 // index among the feasible nodes; -1: not feasible
	group         int32
	fixedScore    int64 // sum of the scores that other nodes do not change
	scoreGroup    int32
	feasible      bool
}

// specialNodes lists the special nodes.
type specialNodes struct {
	*parts
	list      []specialNode
	positions []uint64 // bit set of their positions
}

// collect lists the special nodes and marks their positions, in O(k log N) time for k special
// nodes.
func (s *specialNodes) collect(victim cluster.NodeID) {
	var buf [128]int32
	places := buf[:0]
	add := func(c *model.PodCounter) {
		for _, x := range c.Nodes {
			places = append(places, s.nodes.position[x.Node])
		}
	}
	if victim != cluster.NoNode {
		places = append(places, s.nodes.position[victim])
	}
	for i := range s.pod.softSpread {
		if s.pod.softSpread[i].Hostname {
			add(s.pod.softSpread[i].Pods)
			for _, n := range s.pod.view.unspread { // a window counts them as no domain
				places = append(places, s.nodes.position[n])
			}
		}
	}
	for _, t := range s.pod.view.scoredByNode {
		add(t.Pods)
	}
	slices.Sort(places)
	for i := range s.list {
		place := s.nodes.position[s.list[i].node]
		s.positions[place>>6] &^= 1 << (place & 63)
	}
	s.list = s.list[:0]
	for _, place := range slices.Compact(places) {
		if g := s.pod.view.groups.group[place]; g != noGroup {
			s.list = append(s.list, specialNode{node: s.nodes.model.NodeOrder[place], group: g})
			s.positions[place>>6] |= 1 << (place & 63)
			s.score(&s.list[len(s.list)-1])
		}
	}
}

// score looks up a special node among the feasible nodes and scores it.
func (s *specialNodes) score(x *specialNode) {
	place := s.nodes.position[x.node]
	at, found := s.feasible.indexOf(place)
	if x.feasible = found; !found {
		x.feasibleIndex = -1
		return
	}
	sum := [1]int64{int64(place)}
	s.top.scoreFixed(sum[:])
	x.feasibleIndex, x.fixedScore = int32(at), sum[0]
}

// ordinaryOf returns the positions of the i-th word of a group's bit set that are feasible and not special, and the
// number of words before them.
func (s *specialNodes) ordinaryOf(g, i int) (word uint64, at int) {
	at = s.pod.view.groups.firstWord[g] + i
	return s.pod.view.groups.bits[g][i] & s.feasible.bits[at] &^ s.positions[at], at
}

// hasOrdinary reports whether a group has feasible nodes that are not special.
func (s *specialNodes) hasOrdinary(g int) bool {
	for i := range s.pod.view.groups.bits[g] {
		if word, _ := s.ordinaryOf(g, i); word != 0 {
			return true
		}
	}
	return false
}

// renumber adds `by` to the feasible indexes from `from` on.
func (s *specialNodes) renumber(from, by int32) {
	for i := range s.list {
		if x := &s.list[i]; x.feasibleIndex >= from {
			x.feasibleIndex += by
		}
	}
}
