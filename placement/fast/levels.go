package fast

import (
	"math/bits"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
)

// levelSearch visits the total scores in falling order and distributes the odds of the start
// positions.
type levelSearch struct {
	*parts

	openStarts, deferred []startRange // rising starts whose winners are unknown
	collected            []int32      // nodes with the current total, by feasible index
	creditAtEntry        []float64
	nextLevel            []int32 // by score group
	nextTotal            []int64 // by score group: total of its next level; noScore: no level remains
	shares               []levelOdds
}

// startRange is the half-open range [from, to) of start positions.
type startRange struct{ from, to int32 }

// resetLevels starts again at the best level of every score group.
func (c *levelSearch) resetLevels() {
	c.nextLevel, c.nextTotal = cycle.ResizeSlice(c.nextLevel, len(c.scores.groups)), cycle.ResizeSlice(c.nextTotal, len(c.scores.groups))
	for k := range c.scores.groups {
		c.nextLevel[k] = 0
		c.storeNextTotal(k)
	}
}

// storeNextTotal stores the total score of a score group's next level, or an upper bound if nodes
// are not listed yet.
func (c *levelSearch) storeNextTotal(k int) {
	s := &c.top.lists[k]
	at := int(c.nextLevel[k])
	switch {
	case at < len(s.levelScores) && s.levelScores[at] > s.unlistedMax:
		c.nextTotal[k] = s.levelScores[at] + c.scores.groups[k].relativeScore
	case s.unlistedMax > noScore:
		c.nextTotal[k] = s.unlistedMax + c.scores.groups[k].relativeScore
	default:
		c.nextTotal[k] = noScore
	}
}

// nodesWithNextBestScore lists all nodes with the best remaining total score and returns this score; noScore
// if no node remains.
func (c *levelSearch) nodesWithNextBestScore() int64 {
	for {
		best := slices.Max(c.nextTotal)
		if best == noScore {
			return noScore
		}
		sure := true
		for k, t := range c.nextTotal {
			if s := &c.top.lists[k]; t == best && (int(c.nextLevel[k]) == len(s.levelScores) || s.levelScores[c.nextLevel[k]] <= s.unlistedMax) {
				c.top.listMoreNodes(k)
				c.storeNextTotal(k)
				sure = false
			}
		}
		if sure {
			return best
		}
	}
}

// distribute distributes the odds of the starts between two positions. The score of each score
// group must be the same in all windows of these starts.
func (c *levelSearch) distribute(runs []startRange, from, to int32) {
	c.openStarts = c.openStarts[:0]
	for _, r := range runs {
		if a, b := max(from, r.from), min(to, r.to); a < b {
			c.openStarts = append(c.openStarts, startRange{a, b})
		}
	}
	if len(c.openStarts) == 0 {
		return
	}
	c.resetLevels()
	f := &c.feasible
	low, _ := f.indexOf(c.openStarts[0].from)
	last, _ := f.indexOf(c.openStarts[len(c.openStarts)-1].to - 1) // number of feasible nodes before the last start
	for len(c.openStarts) > 0 {
		total := c.nodesWithNextBestScore()
		c.collectNodes(total, int32(low), int32(last+c.pod.sampleSize))
		if len(c.collected) > 0 && c.creditWindows() {
			c.odds.maxTotal = max(c.odds.maxTotal, total)
		}
	}
}

// collectNodes lists the nodes with this total score and an index in low..high, in node order. Then
// collectNodes advances to the next levels. If a window wraps around, the number of feasible nodes
// is added to the index.
func (c *levelSearch) collectNodes(total int64, low, high int32) {
	f, again, lists := &c.feasible, int32(0), 0
	c.collected = c.collected[:0]
	if high > int32(f.count) {
		high, again = int32(f.count), high-int32(f.count)
	}
	for k, t := range c.nextTotal {
		if t != total {
			continue
		}
		s, level := &c.top.lists[k], c.nextLevel[k]
		nodes := s.nodes[s.levelStarts[level]:s.levelStarts[level+1]]
		i, _ := slices.BinarySearch(nodes, low)
		for ; i < len(nodes) && nodes[i] < high; i++ {
			c.collected = append(c.collected, nodes[i])
		}
		for i = 0; i < len(nodes) && nodes[i] < again; i++ {
			c.collected = append(c.collected, nodes[i]+int32(f.count))
		}
		c.nextLevel[k]++
		c.storeNextTotal(k)
		lists++
	}
	if lists > 1 {
		slices.Sort(c.collected)
	}
}

// creditWindows splits the odds of each open start equally between the collected nodes in its
// window, and reports whether any window has a collected node. Other starts stay open.
func (c *levelSearch) creditWindows() (any bool) {
	c.creditAtEntry, c.deferred = cycle.ResizeZeroed(c.creditAtEntry, len(c.collected)), c.deferred[:0]
	first, dealt, one := 0, 0.0, 1/float64(len(c.nodes.position))
	at := c.feasible.positions
	for _, r := range c.openStarts {
		for first < len(c.collected) && at[c.collected[first]] < r.from {
			first++
		}
		in, out := first, first // nodes in..out-1 are in the window
		for s := r.from; s < r.to; {
			for out < len(c.collected) && c.feasible.firstStartWith(c.collected[out]) <= s {
				c.creditAtEntry[out] = dealt
				out++
			}
			until := r.to
			if out < len(c.collected) {
				until = min(until, c.feasible.firstStartWith(c.collected[out]))
			}
			if in < out {
				until = min(until, at[c.collected[in]]+1)
				dealt += float64(until-s) * one / float64(out-in)
				any = true
			} else if last := len(c.deferred) - 1; last >= 0 && c.deferred[last].to == s {
				c.deferred[last].to = until
			} else {
				c.deferred = append(c.deferred, startRange{s, until})
			}
			for s = until; in < out && at[c.collected[in]] < s; in++ {
				c.addOdds(c.collected[in], dealt-c.creditAtEntry[in])
			}
		}
		for ; in < out; in++ {
			c.addOdds(c.collected[in], dealt-c.creditAtEntry[in])
		}
	}
	c.openStarts, c.deferred = c.deferred, c.openStarts
	return any
}

func (c *levelSearch) addOdds(at int32, odds float64) {
	if at >= int32(c.feasible.count) {
		at -= int32(c.feasible.count)
	}
	n := c.nodes.model.NodeOrder[c.feasible.positions[at]]
	c.odds.add(n, odds)
}

// levelOdds is a level of a score group, and the probability that each of its nodes wins in a random sample.
type levelOdds struct {
	group, level int32
	odds         float64
}

// nodeOdds holds the probability that each node wins, over all windows.
type nodeOdds struct {
	byNode   []float64
	bits     []uint64 // bit set of the nodes that may have odds
	maxTotal int64    // best total of any window until now
	saved    savedOdds
}

// savedOdds holds the odds of the start positions whose windows do not contain the victim's node.
type savedOdds struct {
	known    bool
	nodes    []int32
	odds     []float64
	maxTotal int64
}

func (o *nodeOdds) add(n cluster.NodeID, odds float64) {
	o.byNode[n] += odds
	o.bits[n>>6] |= 1 << (n & 63)
}

// nodes yields the nodes that may have odds, in order.
func (o *nodeOdds) nodes(yield func(n int) bool) {
	for i, word := range o.bits {
		for ; word != 0; word &= word - 1 {
			if !yield(i<<6 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

func (o *nodeOdds) clear() {
	clear(o.byNode)
	clear(o.bits)
	o.maxTotal = noScore
}

func (o *nodeOdds) save() {
	k := &o.saved
	k.known = true
	k.nodes, k.odds, k.maxTotal = k.nodes[:0], k.odds[:0], o.maxTotal
	for n := range o.nodes {
		k.nodes, k.odds = append(k.nodes, int32(n)), append(k.odds, o.byNode[n])
	}
}

// restore adds the saved odds. The caller must call clear before.
func (o *nodeOdds) restore() {
	o.maxTotal = o.saved.maxTotal
	for i, n := range o.saved.nodes {
		o.add(cluster.NodeID(n), o.saved.odds[i])
	}
}

// RandomSampleWeight is the weight of a random sample in the odds, 0..1.
//
// The scheduler filters nodes in parallel, in chunks of about the square root of their number. When
// the search stops, some chunks are incomplete, so the sample is not exactly a window. The
// difference grows with the number of processors and cannot be predicted. For this share of the
// odds, the model assumes that every set of feasible nodes is equally likely. RandomSampleWeight
// was measured on the scheduler's own code (docs/reference/placement.md).
const RandomSampleWeight = 0.15

// negligible is the probability of a sample without any better node at which
// computeRandomSampleOdds stops.
const negligible = 1e-4

// mixInRandomSamples combines the odds of the windows with the odds in a random sample. The cost is about 10 N /
// sampleSize node reads.
func (c *levelSearch) mixInRandomSamples(weight float64) {
	if weight == 0 {
		return
	}
	c.scores.scoreAllFeasible()
	rest := c.computeRandomSampleOdds()
	for n := range c.odds.nodes {
		c.odds.byNode[n] *= 1 - weight
	}
	for _, x := range c.shares {
		s, odds := &c.top.lists[x.group], weight*x.odds/rest
		for _, at := range s.nodes[s.levelStarts[x.level]:s.levelStarts[x.level+1]] {
			c.addOdds(at, odds)
		}
	}
}

// computeRandomSampleOdds stores the odds of the best levels in a random sample. The caller must
// divide these odds by the returned sum.
func (c *levelSearch) computeRandomSampleOdds() (rest float64) {
	n := c.feasible.count
	c.shares = c.shares[:0]
	c.resetLevels()
	missed, passed := 1.0, 0 // missed: probability that no passed node is in the sample
	for missed >= negligible && passed < n {
		total, better, count, first := c.nodesWithNextBestScore(), missed, 0, len(c.shares)
		for k, t := range c.nextTotal {
			if t != total {
				continue
			}
			s, level := &c.top.lists[k], c.nextLevel[k]
			count += int(s.levelStarts[level+1] - s.levelStarts[level])
			c.shares = append(c.shares, levelOdds{group: int32(k), level: level})
			c.nextLevel[k]++
			c.storeNextTotal(k)
		}
		for range count {
			missed *= float64(max(n-c.pod.sampleSize-passed, 0)) / float64(n-passed)
			passed++
		}
		for i := range c.shares[first:] {
			c.shares[first+i].odds = (better - missed) / float64(count)
		}
	}
	return 1 - missed
}
