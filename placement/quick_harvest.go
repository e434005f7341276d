package placement

import (
	"math"
	"slices"
)

// source are the nodes of one kind by their fixed sums, the best first: those
// that have been looked at so far.
type source struct {
	nodes  []int32 // among the feasible ones; by level, then in the order of the walk
	values []int32 // of each level, falling
	starts []int32 // of each level in nodes, and the end
	open   int32   // no node that is not listed has a greater sum; none: all are listed

	ripe       bool    // whether those that were found are listed
	raw, parts []int32 // those that were found, and what they score
}

const none = math.MinInt32

// harvest decides how far down each group is looked at: whole scores cost more than a
// glance at every node, and only the best nodes matter. What goes down with the score
// is a node's mark, twice the weighted score of its free resources, as they are
// without the newcomer, and of its images.
type harvest struct {
	marks  []uint16 // by place
	mine   []uint16 // the scratch of marks
	less   int32    // what the newcomer takes of any mark at least
	most   int32    // of the weighted score of BalancedAllocation
	table  []int32  // by group and mark, how many nodes of every eighth
	span   int
	quota  []int
	floor  [nowhere + 1]uint16 // by group, the least mark that was looked at
	counts []int32             // scratch of sort
}

// Every sampleEvery-th node is counted to find how far down to go; firstQuota windows'
// worth of them are looked at to begin with, and quotaGrows times as many each time
// when they were not enough.
const (
	sampleEvery = 8
	firstQuota  = 24
	quotaGrows  = 4
)

// sow begins the sources of all groups.
func (q *quick) sow() {
	h, f, groups := &q.harvest, &q.field, len(q.sight.land.nodes)
	q.mark()
	for len(q.sources) < groups {
		q.sources = append(q.sources, source{})
	}
	h.table = sized(h.table, groups*h.span)
	clear(h.table)
	group := q.sight.land.group
	for i := 0; i < f.count; i += sampleEvery {
		if place := f.at[i]; q.marked[place>>6]>>(place&63)&1 == 0 {
			h.table[int(group[place])*h.span+int(h.marks[place])]++
		}
	}
	h.quota = h.quota[:0]
	first := 1 + firstQuota*f.count/q.size/sampleEvery
	for g := range groups {
		h.quota = append(h.quota, first)
		h.floor[g] = h.floorOf(g)
		q.sources[g].empty()
	}
	marks := h.marks[:len(group)]
	for i, place := range f.at[:f.count] {
		if g := group[place]; marks[place] >= h.floor[g] && q.marked[place>>6]>>(place&63)&1 == 0 {
			s := &q.sources[g]
			s.raw, s.open = append(s.raw, int32(i)), max(s.open, int32(marks[place]))
		}
	}
	for g := range groups {
		if s := &q.sources[g]; s.open > none {
			s.open = h.bound(s.open)
		}
	}
}

func (s *source) empty() {
	s.nodes, s.values, s.starts, s.raw, s.open, s.ripe = s.nodes[:0], s.values[:0], s.starts[:0], s.raw[:0], none, false
}

// bound is the greatest sum that a node with a mark may have.
func (h *harvest) bound(mark int32) int32 { return max(mark-h.less, 0)>>1 + h.most }

// mark finds the marks and what bounds the scores by them. Of each share at least
// the part of the largest node's goes, rounded down; where scores take pods to request
// more than they do, one of them may be none before and stay so.
func (q *quick) mark() {
	h, weights, as := &q.harvest, &q.in.profile.Weights, &q.in.assumed
	h.span = int(2*(weights.ResourcesFit+weights.ImageLocality)*maxScore) + 1
	h.most = q.mostEven()
	cpu, memory := maxScore*as.MilliCPU/q.mostMilliCPU, maxScore*as.MemoryBytes/q.mostBytes
	if h.less = int32(cpu + memory); q.assumes || as.MilliCPU > q.in.request.MilliCPU || as.MemoryBytes > q.in.request.MemoryBytes {
		h.less = int32(min(cpu, memory))
	}
	h.less *= int32(weights.ResourcesFit)
	images := q.in.fixed.images
	if h.marks = q.base; weights.ResourcesFit == 1 && images == nil {
		return
	}
	h.mine = append(h.mine[:0], q.base...)
	for place := range h.mine {
		h.mine[place] *= uint16(weights.ResourcesFit)
		if images != nil {
			h.mine[place] += uint16(2 * weights.ImageLocality * int64(images[q.w.walk[place]]))
		}
	}
	h.marks = h.mine
}

// floorOf is the mark from which on a group's quota is reached.
func (h *harvest) floorOf(g int) uint16 {
	left := h.quota[g]
	counts := h.table[g*h.span : (g+1)*h.span]
	for mark := h.span - 1; mark > 0; mark-- {
		if left -= int(counts[mark]); left <= 0 {
			return uint16(mark)
		}
	}
	return 0
}

// more looks further down a group.
func (q *quick) more(g int) {
	h, f, s := &q.harvest, &q.field, &q.sources[g]
	if !s.ripe {
		q.ripen(g)
		return
	}
	for was := h.floor[g]; h.floor[g] == was; h.floor[g] = h.floorOf(g) {
		h.quota[g] *= quotaGrows
	}
	s.raw = s.raw[:0]
	for i, place := range f.at[:f.count] {
		if h.marks[place] >= h.floor[g] && q.plain(place, uint8(g)) {
			s.raw = append(s.raw, int32(i))
		}
	}
	q.ripen(g)
}

// ripen finds the sums of a group's nodes and sorts them.
func (q *quick) ripen(g int) {
	s, h, walk := &q.sources[g], &q.harvest, q.w.walk
	if s.open = none; h.floor[g] > 0 {
		s.open = h.bound(int32(h.floor[g]) - 1)
	}
	s.parts, s.ripe = s.parts[:0], true
	for _, at := range s.raw {
		place := q.field.at[at]
		s.parts = append(s.parts, q.partAt(place)+q.even(walk[place]))
	}
	s.sort(&h.counts)
}

// sort makes levels of raw and parts, O(n + the span of sums).
func (s *source) sort(table *[]int32) {
	s.values, s.starts, s.nodes = s.values[:0], s.starts[:0], sized(s.nodes, len(s.raw))
	if len(s.raw) == 0 {
		s.starts = append(s.starts, 0)
		return
	}
	least, most := slices.Min(s.parts), slices.Max(s.parts)
	*table = sized(*table, int(most-least)+1)
	count := *table
	clear(count)
	for _, v := range s.parts {
		count[most-v]++
	}
	sum := int32(0)
	for i, c := range count {
		if count[i] = sum; c > 0 {
			s.values, s.starts = append(s.values, most-int32(i)), append(s.starts, sum)
		}
		sum += c
	}
	s.starts = append(s.starts, sum)
	for i, v := range s.parts {
		slot := &count[most-v]
		s.nodes[*slot] = s.raw[i]
		*slot++
	}
}

// mostEven is a bound of the weighted score of BalancedAllocation. The newcomer
// changes the deviation by at most half the greater of its shares of cpu and
// memory, and rounding by less than 1.
func (q *quick) mostEven() int32 {
	weight, r := int32(q.in.profile.Weights.BalancedAllocation), &q.in.request
	share := max(float64(max(r.MilliCPU, 0))/float64(q.leastMilliCPU), float64(max(r.MemoryBytes, 0))/float64(q.leastBytes))
	gain := int64(math.Floor(min(share, 1)*maxScore/2+1e-6)) + 1
	return weight * int32(min(levelled(gain, 0), maxScore))
}
