package fast

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/sampling"
	"slices"
)

// cover deals the odds of the starts from the best total down.
type cover struct {
	most int32 // best total of any window so far

	left, next  []run   // starts whose winners are not known, by rising start
	order       []int32 // nodes that are looked at; scratch elsewhere
	spare       []int32 // scratch of settle
	since       []float64
	level       []int32 // by source, the level that is next
	total       []int32 // by source, its total; none: there is none left
	shares      []share
	shareLevels []int32
}

// run are starts, from and below to.
type run struct{ from, to int32 }

// startLevels begins with the best level of every source.
func (q *Predictor) startLevels() {
	c := &q.cover
	c.level, c.total = sampling.Resize(c.level, len(q.kinds)), sampling.Resize(c.total, len(q.kinds))
	for k := range q.kinds {
		c.level[k] = 0
		q.tellTotal(k)
	}
}

// tellTotal notes the total of a source's next level, or what those that are not
// listed may have.
func (q *Predictor) tellTotal(k int) {
	s, c := &q.sources[k], &q.cover
	at := int(c.level[k])
	switch {
	case at < len(s.values) && s.values[at] > s.open:
		c.total[k] = s.values[at] + q.kinds[k].score
	case s.open > none:
		c.total[k] = s.open + q.kinds[k].score
	default:
		c.total[k] = none
	}
}

// nextTotal returns the best total that is left, all its levels being listed; none
// when there is none.
func (q *Predictor) nextTotal() int32 {
	c := &q.cover
	for {
		best := slices.Max(c.total)
		if best == none {
			return none
		}
		sure := true
		for k, t := range c.total {
			if s := &q.sources[k]; t == best && !s.listed(c.level[k]) {
				q.more(k)
				q.tellTotal(k)
				sure = false
			}
		}
		if sure {
			return best
		}
	}
}

// listed reports whether a level has all its nodes.
func (s *source) listed(level int32) bool {
	return int(level) < len(s.values) && s.values[level] > s.open
}

// coverStarts deals the odds of the starts in the runs from one to below another,
// between which every kind has one score.
func (q *Predictor) coverStarts(runs []run, from, to int32) {
	c := &q.cover
	c.left = c.left[:0]
	for _, r := range runs {
		if a, b := max(from, r.from), min(to, r.to); a < b {
			c.left = append(c.left, run{a, b})
		}
	}
	if len(c.left) == 0 {
		return
	}
	q.startLevels()
	f := &q.field
	low, _ := f.find(c.left[0].from)
	last, _ := f.find(c.left[len(c.left)-1].to - 1) // feasible nodes before the last start
	for len(c.left) > 0 {
		total := q.nextTotal()
		q.gather(total, int32(low), int32(last+q.size))
		if len(c.order) > 0 && q.deal() {
			c.most = max(c.most, total)
		}
	}
}

// gather lists the nodes with the total that are numbered from low to below high, in
// the order of the walk, and goes on to the next levels. A node that is there again
// after the end of the walk gets a number beyond the last.
func (q *Predictor) gather(total, low, high int32) {
	c, f, again := &q.cover, &q.field, int32(0)
	c.order = c.order[:0]
	if high > int32(f.count) {
		high, again = int32(f.count), high-int32(f.count)
	}
	for k, t := range c.total {
		if t != total {
			continue
		}
		s, level := &q.sources[k], c.level[k]
		nodes, was := s.nodes[s.starts[level]:s.starts[level+1]], len(c.order)
		i, _ := slices.BinarySearch(nodes, low)
		for ; i < len(nodes) && nodes[i] < high; i++ {
			c.order = append(c.order, nodes[i])
		}
		for i = 0; i < len(nodes) && nodes[i] < again; i++ {
			c.order = append(c.order, nodes[i]+int32(f.count))
		}
		c.settle(was)
		c.level[k]++
		q.tellTotal(k)
	}
}

// settle puts the nodes from a number on, which are in order, among those before, which
// are too.
func (c *cover) settle(from int) {
	if from == 0 || from == len(c.order) {
		return
	}
	c.spare = append(c.spare[:0], c.order[from:]...)
	at, i := len(c.order)-1, from-1
	for j := len(c.spare) - 1; j >= 0; at-- {
		if i >= 0 && c.order[i] > c.spare[j] {
			c.order[at] = c.order[i]
			i--
		} else {
			c.order[at] = c.spare[j]
			j--
		}
	}
}

// begins is the first start from the beginning of the walk on whose window has a node
// of cover.order; its place is the last one.
func (q *Predictor) begins(at int32) int32 {
	if at < int32(q.size) {
		return 0
	}
	return q.field.at[at-int32(q.size)] + 1
}

// deal gives each start that is left to the gathered nodes in its window, in equal
// parts, and keeps the starts that have none of them. It reports whether any has.
func (q *Predictor) deal() (any bool) {
	c := &q.cover
	c.since, c.next = cycle.ResizeFloat64(c.since, len(c.order)), c.next[:0]
	first, dealt, one := 0, 0.0, 1/float64(len(q.place))
	at := q.field.at
	for _, r := range c.left {
		for first < len(c.order) && at[c.order[first]] < r.from {
			first++
		}
		in, out := first, first // those from in to below out are in the window
		for s := r.from; s < r.to; {
			for out < len(c.order) && q.begins(c.order[out]) <= s {
				c.since[out] = dealt
				out++
			}
			until := r.to
			if out < len(c.order) {
				until = min(until, q.begins(c.order[out]))
			}
			if in < out {
				until = min(until, at[c.order[in]]+1)
				dealt += float64(until-s) * one / float64(out-in)
				any = true
			} else {
				c.keep(s, until)
			}
			for s = until; in < out && at[c.order[in]] < s; in++ {
				q.pay(c.order[in], dealt-c.since[in])
			}
		}
		for ; in < out; in++ {
			q.pay(c.order[in], dealt-c.since[in])
		}
	}
	c.left, c.next = c.next, c.left
	return any
}

// keep leaves starts for the next total.
func (c *cover) keep(from, to int32) {
	if last := len(c.next) - 1; last >= 0 && c.next[last].to == from {
		c.next[last].to = to
		return
	}
	c.next = append(c.next, run{from, to})
}

// pay adds to a node's odds.
func (q *Predictor) pay(at int32, odds float64) {
	if at >= int32(q.field.count) {
		at -= int32(q.field.count)
	}
	n := q.m.NodeOrder[q.field.at[at]]
	q.odds[n] += odds
	q.won[n>>6] |= 1 << (n & 63)
}
