package fast

import (
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
	"math"
	"math/bits"
)

// source are the nodes of one kind by their fixed sums, the best first: those
// that have been looked at so far.
type source struct {
	nodes  []int32 // among the feasible ones; by level, then in the order of the walk
	values []int32 // of each level, falling
	starts []int32 // of each level in nodes, and the end
	open   int32   // no node that is not listed has a greater sum; none: all are listed

	raw, parts []int32 // those that were found, and what they score
}

const none = math.MinInt32

// harvest decides how far down each group is looked at: whole scores cost more than a
// glance at every node, and only the best nodes matter. What goes down with the score
// is a node's mark, twice the weighted score of its free resources, as they are
// without the newcomer, and of its images.
type harvest struct {
	less  int32 // what the newcomer takes of any mark at least
	most  int32 // of the weighted score of BalancedAllocation
	slack int   // by how much marks may differ where scores are the same
	span  int   // marks are below it

	ratio, imageRatio int32   // how a mark is made of base and of the score of images
	quota             []int   // by group, how many nodes are wanted; 0: none was looked at
	floor             []int32 // by group, the least mark that was looked at
	counts            []int32 // of nodes by mark; scratch of sort
	roll              []uint64
	mine, picked      []uint64 // the places of the group, and those that are looked at, as bits
}

// firstQuota windows' worth of a group's nodes are looked at to begin with, and
// quotaGrows times as many each time when they were not enough.
const (
	firstQuota = 10
	quotaGrows = 4
)

// sow begins the sources of all groups, none of whose nodes is looked at yet.
func (q *Predictor) sow() {
	h, groups := &q.harvest, len(q.sight.land.nodes)
	q.bounds()
	for len(q.sources) < groups {
		q.sources = append(q.sources, source{})
	}
	h.quota, h.floor = h.quota[:0], sampling.Resize(h.floor, groups)
	for g := range groups {
		h.quota = append(h.quota, 0)
		s := &q.sources[g]
		s.empty()
		if q.grows(g) {
			s.open = h.bound(int32(h.span) - 1)
		}
	}
}

// grows reports whether a group has a feasible node that is not special.
func (q *Predictor) grows(g int) bool {
	if !q.allowed[g] {
		return false
	}
	for i, places := range q.sight.land.bits[g] {
		if places&q.field.fits[i]&^q.marked[i] != 0 {
			return true
		}
	}
	return false
}

func (s *source) empty() {
	s.nodes, s.values, s.starts, s.raw, s.open = s.nodes[:0], s.values[:0], s.starts[:0], s.raw[:0], none
}

// bound is the greatest sum that a node with a mark may have.
func (h *harvest) bound(mark int32) int32 { return max(mark-h.less, 0)>>1 + h.most }

// bounds finds what bounds the scores by the marks. Of each share at least
// the part of the largest node's goes, rounded down; where scores take pods to request
// more than they do, one of them may be none before and stay so. slack goes by what
// the smallest node loses more, and by how far BalancedAllocation goes about its mean.
func (q *Predictor) bounds() {
	h, weights, as := &q.harvest, &q.in.Profile.Weights, &q.in.ScoredRequests
	cpu, memory := scheduler.MaxScore*as.MilliCPU/q.mostMilliCPU, scheduler.MaxScore*as.MemoryBytes/q.mostBytes
	if h.less = int32(cpu + memory); q.assumes || as.MilliCPU > q.in.Requests.MilliCPU || as.MemoryBytes > q.in.Requests.MemoryBytes {
		h.less = int32(min(cpu, memory))
	}
	h.ratio, h.imageRatio = int32(weights.ResourcesFit), 0
	h.less *= h.ratio
	h.most = q.mostEven()
	taken := min(scheduler.MaxScore, scheduler.MaxScore*as.MilliCPU/q.leastMilliCPU) + min(scheduler.MaxScore, scheduler.MaxScore*as.MemoryBytes/q.leastBytes) + 2
	h.slack = max(int(h.ratio)*int(taken)-int(h.less), 0) + 4*max(int(h.most)-int(weights.BalancedAllocation)*scheduler.MaxScore*3/4, 0) + 2
	h.span = q.best()*int(h.ratio) + 1
	if q.in.StaticScores.Images != nil {
		h.imageRatio = int32(2 * weights.ImageLocality)
		h.span += int(h.imageRatio) * scheduler.MaxScore
	}
}

// best is the greatest base of any node.
func (q *Predictor) best() int {
	for q.bases[q.top] == 0 && q.top > 0 {
		q.top--
	}
	return q.top
}

// more looks further down a group: O(nodes of the group), a few instructions each,
// and a score for each that is found.
func (q *Predictor) more(g int) {
	h, s := &q.harvest, &q.sources[g]
	if h.quota[g] == 0 {
		h.floor[g] = int32(h.span)
		h.quota[g] = (1 + firstQuota*q.field.count/q.size) / quotaGrows
	}
	h.quota[g] = (h.quota[g] + 1) * quotaGrows
	if q.in.StaticScores.Images == nil {
		q.surveyByBase(g)
	} else {
		q.survey(g)
	}
	q.score(s.parts)
	s.sort(&h.counts)
}

// lower lets the group be looked at down to where so many nodes are, as far as marks tell.
func (h *harvest) lower(g int, s *source, reached int32) {
	if h.floor[g] = min(reached-int32(h.slack), h.floor[g]-1); h.floor[g] <= 0 {
		h.floor[g], s.open = 0, none
	} else {
		s.open = h.bound(h.floor[g] - 1)
	}
}

// surveyByBase is survey where marks go by bases alone: it looks at no node but those
// that it picks.
func (q *Predictor) surveyByBase(g int) {
	h, f, s, wanted, base := &q.harvest, &q.field, &q.sources[g], q.harvest.quota[g], q.best()
	mine := append(h.mine[:0], q.sight.land.bits[g]...)
	picked := append(h.picked[:0], mine...)
	clear(picked)
	h.mine, h.picked = mine, picked
	for i := range mine {
		mine[i] &= f.fits[i] &^ q.marked[i]
	}
	for ; base > 0; base-- {
		if q.bases[base] == 0 {
			continue
		}
		for i, word := range q.based[base] {
			wanted -= bits.OnesCount64(word & mine[i])
		}
		if wanted <= 0 {
			break
		}
	}
	h.lower(g, s, int32(base)*h.ratio)
	for b := q.best(); b >= 0 && int32(b)*h.ratio >= h.floor[g]; b-- {
		if q.bases[b] == 0 {
			continue
		}
		for i, word := range q.based[b] {
			picked[i] |= word
		}
	}
	s.raw, s.parts = s.raw[:0], s.parts[:0]
	for i, word := range picked {
		fits, low := f.fits[i], int32(i<<6)
		for left := word & mine[i]; left != 0; left &= left - 1 {
			s.raw = append(s.raw, f.before[i]+int32(bits.OnesCount64(fits&(left&-left-1))))
			s.parts = append(s.parts, low+int32(bits.TrailingZeros64(left)))
		}
	}
}

// survey lists the feasible nodes of a group, special ones left out, in the order of
// the walk, with their numbers and places, and counts them by mark.
func (q *Predictor) survey(g int) {
	h, f, images := &q.harvest, &q.field, q.in.StaticScores.Images
	h.roll, h.counts = h.roll[:0], sampling.Resize(h.counts, h.span)
	clear(h.counts)
	for i, places := range q.sight.land.bits[g] {
		fits := f.fits[i]
		for left := places & fits &^ q.marked[i]; left != 0; left &= left - 1 {
			bit := left & -left
			place := i<<6 + bits.TrailingZeros64(left)
			mark := int32(q.base[place]) * h.ratio
			if images != nil {
				mark += h.imageRatio * int32(images[q.m.NodeOrder[place]])
			}
			h.counts[mark]++
			number := int(f.before[i]) + bits.OnesCount64(fits&(bit-1))
			h.roll = append(h.roll, uint64(place)<<40|uint64(number)<<16|uint64(mark))
		}
	}
	s := &q.sources[g]
	h.lower(g, s, h.floorOf(h.quota[g]))
	s.raw, s.parts = s.raw[:0], s.parts[:0]
	floor := uint64(h.floor[g])
	for _, x := range h.roll {
		if x&0xffff >= floor {
			s.raw = append(s.raw, int32(x>>16&0xffffff))
			s.parts = append(s.parts, int32(x>>40))
		}
	}
}

// floorOf is the mark from which on so many of the nodes that were counted are.
func (h *harvest) floorOf(quota int) int32 {
	for mark := h.span - 1; mark > 0; mark-- {
		if quota -= int(h.counts[mark]); quota <= 0 {
			return int32(mark)
		}
	}
	return 0
}

// sort makes levels of raw and parts, O(n + the span of sums).
func (s *source) sort(table *[]int32) {
	s.values, s.starts, s.nodes = s.values[:0], s.starts[:0], sampling.Resize(s.nodes, len(s.raw))
	if len(s.raw) == 0 {
		s.starts = append(s.starts, 0)
		return
	}
	least, most := s.parts[0], s.parts[0]
	for _, v := range s.parts {
		least, most = min(least, v), max(most, v)
	}
	*table = sampling.Resize(*table, int(most-least)+1)
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
func (q *Predictor) mostEven() int32 {
	weight, r := int32(q.in.Profile.Weights.BalancedAllocation), &q.in.Requests
	share := max(float64(max(r.MilliCPU, 0))/float64(q.leastMilliCPU), float64(max(r.MemoryBytes, 0))/float64(q.leastBytes))
	gain := int64(math.Floor(min(share, 1)*scheduler.MaxScore/2+1e-6)) + 1
	return weight * int32(min(score.IsBalanced(gain, 0), scheduler.MaxScore))
}
