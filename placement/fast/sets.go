package fast

import (
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"math/bits"
)

// share is what every node of some levels has over every set of nodes; the levels
// follow each other in cover.shareLevels, as kind and level, up to end.
type share struct {
	odds float64
	end  int
}

// everySet mixes the odds over every set of nodes into those over the windows, as
// scatter does. It looks at about 10 N / size nodes.
func (q *Predictor) everySet(weight float64) {
	if weight == 0 {
		return
	}
	q.fillWindow()
	rest := q.dealSets()
	for i, word := range q.won {
		for ; word != 0; word &= word - 1 {
			q.odds[i<<6+bits.TrailingZeros64(word)] *= 1 - weight
		}
	}
	c, from := &q.cover, 0
	for _, x := range c.shares {
		odds := weight * x.odds / rest
		for ; from < x.end; from += 2 {
			k, level := c.shareLevels[from], c.shareLevels[from+1]
			s := &q.sources[k]
			for _, at := range s.nodes[s.starts[level]:s.starts[level+1]] {
				q.pay(at, odds)
			}
		}
	}
}

// fillWindow scores the kinds as if all feasible nodes were in the window.
func (q *Predictor) fillWindow() {
	for k := range q.kinds {
		q.kinds[k].present = 1
		if s := &q.sources[k]; len(s.nodes) == 0 && s.open == none {
			q.kinds[k].present = 0
		}
	}
	q.weigh(q.field.count)
	x := q.stretches()
	q.relate(&x)
}

// dealSets notes the odds of the best levels over every set, to be divided by the
// rest, which it returns.
func (q *Predictor) dealSets() (rest float64) {
	c, n := &q.cover, q.field.count
	c.shares, c.shareLevels = c.shares[:0], c.shareLevels[:0]
	q.startLevels()
	missed, passed := 1.0, 0 // the probability that none of those passed is in the set
	for missed >= sampling.Negligible && passed < n {
		total, better, count := q.nextTotal(), missed, 0
		for k, t := range c.total {
			if t != total {
				continue
			}
			s, level := &q.sources[k], c.level[k]
			count += int(s.starts[level+1] - s.starts[level])
			c.shareLevels = append(c.shareLevels, int32(k), level)
			c.level[k]++
			q.tellTotal(k)
		}
		for range count {
			missed *= float64(max(n-q.size-passed, 0)) / float64(n-passed)
			passed++
		}
		c.shares = append(c.shares, share{(better - missed) / float64(count), len(c.shareLevels)})
	}
	return 1 - missed
}
