package fast

import (
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"math/bits"
)

// mixInRandomSamples mixes the odds over every set of nodes into those over the windows, as
// scatter does. It looks at about 10 N / size nodes.
func (q *windowOdds) mixInRandomSamples(weight float64) {
	if weight == 0 {
		return
	}
	q.scoreAllFeasible()
	rest := q.computeRandomSampleOdds()
	for i, word := range q.nodesWithOdds {
		for ; word != 0; word &= word - 1 {
			q.oddsByNode[i<<6+bits.TrailingZeros64(word)] *= 1 - weight
		}
	}
	c, from := &q.levels, 0
	for _, x := range c.shares {
		odds := weight * x.odds / rest
		for ; from < x.end; from += 2 {
			k, level := c.shareLevels[from], c.shareLevels[from+1]
			s := &q.scoreLists[k]
			for _, at := range s.nodes[s.levelStarts[level]:s.levelStarts[level+1]] {
				q.addOdds(at, odds)
			}
		}
	}
}

// computeRandomSampleOdds notes the odds of the best levels over every set, to be divided by the
// rest, which it returns.
func (q *windowOdds) computeRandomSampleOdds() (rest float64) {
	c, n := &q.levels, q.feasible.count
	c.shares, c.shareLevels = c.shares[:0], c.shareLevels[:0]
	q.resetLevels()
	missed, passed := 1.0, 0 // the probability that none of those passed is in the set
	for missed >= sampling.Negligible && passed < n {
		total, better, count := q.nextBestTotal(), missed, 0
		for k, t := range c.nextTotal {
			if t != total {
				continue
			}
			s, level := &q.scoreLists[k], c.nextLevel[k]
			count += int(s.levelStarts[level+1] - s.levelStarts[level])
			c.shareLevels = append(c.shareLevels, int32(k), level)
			c.nextLevel[k]++
			q.updateTotal(k)
		}
		for range count {
			missed *= float64(max(n-q.sampleSize-passed, 0)) / float64(n-passed)
			passed++
		}
		c.shares = append(c.shares, levelOdds{(better - missed) / float64(count), len(c.shareLevels)})
	}
	return 1 - missed
}
