package fast

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
)

// windowOdds computes the probability that each node wins, over all windows.
type windowOdds struct {
	relativeScorer
	levels        levelSearch
	windows       windowEvents
	oddsByNode    []float64
	nodesWithOdds []uint64 // bit set of the nodes that may have odds
}

// levelSearch visits the total scores in falling order and distributes the odds of the start
// positions.
type levelSearch struct {
	maxTotal int32 // best total of any window until now

	openStarts, deferred []startRange // rising starts whose winners are unknown
	nodes                []int32      // nodes with the current total, by feasible index
	mergeScratch         []int32      // scratch of mergeFrom
	creditAtEntry        []float64
	nextLevel            []int32 // by score group
	nextTotal            []int32 // by score group: total of its next level; noScore: no level remains
	shares               []levelOdds
	shareLevels          []int32
}

// startRange is the half-open range [from, to) of start positions.
type startRange struct{ from, to int32 }

// resetLevels starts again at the best level of every score group.
func (q *windowOdds) resetLevels() {
	c := &q.levels
	c.nextLevel, c.nextTotal = cycle.ResizeSlice(c.nextLevel, len(q.scoreGroups)), cycle.ResizeSlice(c.nextTotal, len(q.scoreGroups))
	for k := range q.scoreGroups {
		c.nextLevel[k] = 0
		q.storeNextTotal(k)
	}
}

// storeNextTotal stores the total score of a score group's next level, or an upper bound if nodes
// are not listed yet.
func (q *windowOdds) storeNextTotal(k int) {
	s, c := &q.scoreLists[k], &q.levels
	at := int(c.nextLevel[k])
	switch {
	case at < len(s.levelScores) && s.levelScores[at] > s.unlistedMax:
		c.nextTotal[k] = s.levelScores[at] + q.scoreGroups[k].relativeScore
	case s.unlistedMax > noScore:
		c.nextTotal[k] = s.unlistedMax + q.scoreGroups[k].relativeScore
	default:
		c.nextTotal[k] = noScore
	}
}

// nodesWithNextBestScore lists all nodes with the best remaining total score and returns this score; noScore
// if no node remains.
func (q *windowOdds) nodesWithNextBestScore() int32 {
	c := &q.levels
	for {
		best := slices.Max(c.nextTotal)
		if best == noScore {
			return noScore
		}
		sure := true
		for k, t := range c.nextTotal {
			if s := &q.scoreLists[k]; t == best && (int(c.nextLevel[k]) == len(s.levelScores) || s.levelScores[c.nextLevel[k]] <= s.unlistedMax) {
				q.listMoreNodes(k)
				q.storeNextTotal(k)
				sure = false
			}
		}
		if sure {
			return best
		}
	}
}

// distributeOdds distributes the odds of the starts between two positions. The score of each score
// group must be the same in all windows of these starts.
func (q *windowOdds) distributeOdds(runs []startRange, from, to int32) {
	c := &q.levels
	c.openStarts = c.openStarts[:0]
	for _, r := range runs {
		if a, b := max(from, r.from), min(to, r.to); a < b {
			c.openStarts = append(c.openStarts, startRange{a, b})
		}
	}
	if len(c.openStarts) == 0 {
		return
	}
	q.resetLevels()
	f := &q.feasible
	low, _ := f.indexOf(c.openStarts[0].from)
	last, _ := f.indexOf(c.openStarts[len(c.openStarts)-1].to - 1) // number of feasible nodes before the last start
	for len(c.openStarts) > 0 {
		total := q.nodesWithNextBestScore()
		q.collectNodes(total, int32(low), int32(last+q.sampleSize))
		if len(c.nodes) > 0 && q.creditWindows() {
			c.maxTotal = max(c.maxTotal, total)
		}
	}
}

// collectNodes lists the nodes with this total score and an index in low..high, in node order. Then
// collectNodes advances to the next levels. If a window wraps around, the number of feasible nodes
// is added to the index.
func (q *windowOdds) collectNodes(total, low, high int32) {
	c, f, again := &q.levels, &q.feasible, int32(0)
	c.nodes = c.nodes[:0]
	if high > int32(f.count) {
		high, again = int32(f.count), high-int32(f.count)
	}
	for k, t := range c.nextTotal {
		if t != total {
			continue
		}
		s, level := &q.scoreLists[k], c.nextLevel[k]
		nodes, was := s.nodes[s.levelStarts[level]:s.levelStarts[level+1]], len(c.nodes)
		i, _ := slices.BinarySearch(nodes, low)
		for ; i < len(nodes) && nodes[i] < high; i++ {
			c.nodes = append(c.nodes, nodes[i])
		}
		for i = 0; i < len(nodes) && nodes[i] < again; i++ {
			c.nodes = append(c.nodes, nodes[i]+int32(f.count))
		}
		c.mergeFrom(was)
		c.nextLevel[k]++
		q.storeNextTotal(k)
	}
}

// mergeFrom merges the two sorted parts of nodes that meet at this index.
func (c *levelSearch) mergeFrom(from int) {
	if from == 0 || from == len(c.nodes) {
		return
	}
	c.mergeScratch = append(c.mergeScratch[:0], c.nodes[from:]...)
	at, i := len(c.nodes)-1, from-1
	for j := len(c.mergeScratch) - 1; j >= 0; at-- {
		if i >= 0 && c.nodes[i] > c.mergeScratch[j] {
			c.nodes[at] = c.nodes[i]
			i--
		} else {
			c.nodes[at] = c.mergeScratch[j]
			j--
		}
	}
}

// firstStartWith returns the first start position whose window contains the node. The last one is
// the node's own position.
func (q *windowOdds) firstStartWith(at int32) int32 {
	if at < int32(q.sampleSize) {
		return 0
	}
	return q.feasible.positions[at-int32(q.sampleSize)] + 1
}

// creditWindows splits the odds of each open start equally between the collected nodes in its
// window, and reports whether any window has a collected node. Other starts stay open.
func (q *windowOdds) creditWindows() (any bool) {
	c := &q.levels
	c.creditAtEntry, c.deferred = cycle.ResizeZeroed(c.creditAtEntry, len(c.nodes)), c.deferred[:0]
	first, dealt, one := 0, 0.0, 1/float64(len(q.position))
	at := q.feasible.positions
	for _, r := range c.openStarts {
		for first < len(c.nodes) && at[c.nodes[first]] < r.from {
			first++
		}
		in, out := first, first // nodes in..out-1 are in the window
		for s := r.from; s < r.to; {
			for out < len(c.nodes) && q.firstStartWith(c.nodes[out]) <= s {
				c.creditAtEntry[out] = dealt
				out++
			}
			until := r.to
			if out < len(c.nodes) {
				until = min(until, q.firstStartWith(c.nodes[out]))
			}
			if in < out {
				until = min(until, at[c.nodes[in]]+1)
				dealt += float64(until-s) * one / float64(out-in)
				any = true
			} else {
				c.deferStarts(s, until)
			}
			for s = until; in < out && at[c.nodes[in]] < s; in++ {
				q.addOdds(c.nodes[in], dealt-c.creditAtEntry[in])
			}
		}
		for ; in < out; in++ {
			q.addOdds(c.nodes[in], dealt-c.creditAtEntry[in])
		}
	}
	c.openStarts, c.deferred = c.deferred, c.openStarts
	return any
}

func (c *levelSearch) deferStarts(from, to int32) {
	if last := len(c.deferred) - 1; last >= 0 && c.deferred[last].to == from {
		c.deferred[last].to = to
		return
	}
	c.deferred = append(c.deferred, startRange{from, to})
}

func (q *windowOdds) addOdds(at int32, odds float64) {
	if at >= int32(q.feasible.count) {
		at -= int32(q.feasible.count)
	}
	n := q.model.NodeOrder[q.feasible.positions[at]]
	q.oddsByNode[n] += odds
	q.nodesWithOdds[n>>6] |= 1 << (n & 63)
}

// levelOdds is the probability that each node of some levels wins in a random sample.
// levelSearch.shareLevels lists the levels up to end, as pairs of score group and level.
type levelOdds struct {
	odds float64
	end  int
}
