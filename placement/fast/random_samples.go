package fast

import (
	"math/bits"

	"github.com/evenkeel-project/evenkeel/placement/sampling"
)

// mixInRandomSamples combines the odds of the windows with the odds in a random sample, as
// sampling.Sampler does. The cost is about 10 N / sampleSize node reads.
func (c *levelSearch) mixInRandomSamples(weight float64) {
	if weight == 0 {
		return
	}
	c.scores.scoreAllFeasible()
	rest := c.computeRandomSampleOdds()
	for i, word := range c.odds.bits {
		for ; word != 0; word &= word - 1 {
			c.odds.byNode[i<<6+bits.TrailingZeros64(word)] *= 1 - weight
		}
	}
	from := 0
	for _, x := range c.shares {
		odds := weight * x.odds / rest
		for ; from < x.end; from += 2 {
			k, level := c.shareLevels[from], c.shareLevels[from+1]
			s := &c.top.lists[k]
			for _, at := range s.nodes[s.levelStarts[level]:s.levelStarts[level+1]] {
				c.addOdds(at, odds)
			}
		}
	}
}

// computeRandomSampleOdds stores the odds of the best levels in a random sample. The caller must
// divide these odds by the returned sum.
func (c *levelSearch) computeRandomSampleOdds() (rest float64) {
	n := c.feasible.count
	c.shares, c.shareLevels = c.shares[:0], c.shareLevels[:0]
	c.resetLevels()
	missed, passed := 1.0, 0 // missed: probability that no passed node is in the sample
	for missed >= sampling.Negligible && passed < n {
		total, better, count := c.nodesWithNextBestScore(), missed, 0
		for k, t := range c.nextTotal {
			if t != total {
				continue
			}
			s, level := &c.top.lists[k], c.nextLevel[k]
			count += int(s.levelStarts[level+1] - s.levelStarts[level])
			c.shareLevels = append(c.shareLevels, int32(k), level)
			c.nextLevel[k]++
			c.storeNextTotal(k)
		}
		for range count {
			missed *= float64(max(n-c.pod.sampleSize-passed, 0)) / float64(n-passed)
			passed++
		}
		c.shares = append(c.shares, levelOdds{(better - missed) / float64(count), len(c.shareLevels)})
	}
	return 1 - missed
}
