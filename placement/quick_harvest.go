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

	raw, parts []int32 // while it is filled
}

const none = math.MinInt32

// harvest decides how far down each group is looked at: sums need BalancedAllocation,
// which costs more than the rest, and only the best nodes matter. A score that is
// as good as that gets takes its place until then.
type harvest struct {
	most  int32   // of the weighted score of BalancedAllocation
	table []int32 // by group and part, how many nodes of every eighth
	span  int
	quota []int
	floor []int32 // by group, the least part that was looked at

	counts []int32 // scratch of sort
}

// Every sampleEvery-th node is counted to find how far down to go; firstQuota windows'
// worth of them are looked at to begin with, and quotaGrows times as many each time
// when they were not enough.
const (
	sampleEvery = 8
	firstQuota  = 12
	quotaGrows  = 4
)

// sow begins the sources of all groups.
func (q *quick) sow() {
	h, f, groups := &q.harvest, &q.field, len(q.sight.land.nodes)
	h.most = q.mostEven()
	for len(q.sources) < groups {
		q.sources = append(q.sources, source{})
	}
	h.span = int(q.in.profile.Weights.ResourcesFit+q.in.profile.Weights.ImageLocality)*maxScore + 1
	h.table = sized(h.table, groups*h.span)
	clear(h.table)
	h.quota, h.floor = h.quota[:0], sized(h.floor, nowhere+1)
	for i := 0; i < f.count; i += sampleEvery {
		if part := f.part[i]; part >= 0 {
			h.table[int(f.group[i])*h.span+int(part)]++
		}
	}
	first := 1 + firstQuota*f.count/q.size/sampleEvery
	for g := range groups {
		h.quota = append(h.quota, first)
		h.floor[g] = h.floorOf(g)
		q.sources[g].raw, q.sources[g].parts = q.sources[g].raw[:0], q.sources[g].parts[:0]
	}
	floor, group := h.floor, f.group[:f.count]
	for i, part := range f.part[:f.count] {
		if g := group[i]; part >= floor[g] {
			s := &q.sources[g]
			s.raw, s.parts = append(s.raw, int32(i)), append(s.parts, part)
		}
	}
	for g := range groups {
		q.ripen(g)
	}
}

// floorOf is the part from which on a group's quota is reached.
func (h *harvest) floorOf(g int) int32 {
	left := h.quota[g]
	counts := h.table[g*h.span : (g+1)*h.span]
	for part := h.span - 1; part > 0; part-- {
		if left -= int(counts[part]); left <= 0 {
			return int32(part)
		}
	}
	return 0
}

// more looks further down a group.
func (q *quick) more(g int) {
	h, f, s := &q.harvest, &q.field, &q.sources[g]
	for was := h.floor[g]; h.floor[g] == was; h.floor[g] = h.floorOf(g) {
		h.quota[g] *= quotaGrows
	}
	s.raw, s.parts = s.raw[:0], s.parts[:0]
	floor, group := h.floor[g], f.group[:f.count]
	for i, part := range f.part[:f.count] {
		if part >= floor && int(group[i]) == g {
			s.raw, s.parts = append(s.raw, int32(i)), append(s.parts, part)
		}
	}
	q.ripen(g)
}

// ripen finds the sums of a group's nodes and sorts them.
func (q *quick) ripen(g int) {
	s, h := &q.sources[g], &q.harvest
	if s.open = none; h.floor[g] > 0 {
		s.open = h.floor[g] - 1 + h.most
	}
	at, walk := q.field.at, q.w.walk
	for i, j := range s.raw {
		s.parts[i] += q.even(walk[at[j]])
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
