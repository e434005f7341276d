package fast

import "math/bits"

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
	for missed >= negligible && passed < n {
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
