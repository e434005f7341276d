package placement

import "slices"

// contest finds the best of each window of consecutive nodes on a ring, in time
// that grows with the number of nodes only.
type contest struct {
	nodes, size int
	slot        []int32   // of each position, sorted by total, then position
	queue       []int32   // positions that may yet be the best, their totals falling
	change      []float64 // by slot: what the share changes by
}

// newContest is for windows of size nodes out of so many on the ring. Positions
// run on behind the last node, so that windows never wrap.
func newContest(nodes, size int) *contest {
	n := nodes + size - 1
	return &contest{nodes: nodes, size: size, slot: make([]int32, n), queue: make([]int32, n), change: make([]float64, n+1)}
}

// hold adds to out[k] the probability that node k is drawn: each window of
// group g gives its weight to the nodes with the best total in it, in equal
// parts.
func (c *contest) hold(total []int64, weight []float64, group []int32, g int32, out []float64) {
	least := slices.Min(total)
	last := c.sortPositions(total, least, slices.Max(total))
	clear(c.change)
	head, tail := 0, 0
	for p := range c.slot {
		v := total[p%c.nodes]
		for tail > head && total[int(c.queue[tail-1])%c.nodes] < v {
			tail--
		}
		c.queue[tail] = int32(p)
		tail++
		last[v-least] = c.slot[p]
		a := p - c.size + 1
		if a < 0 {
			continue
		}
		if int(c.queue[head]) < a {
			head++
		}
		if group[a] == g {
			// Equal totals lie side by side: those from the front of the
			// queue to the last one seen are in the window.
			front := c.queue[head]
			from, to := c.slot[front], last[total[int(front)%c.nodes]-least]
			share := weight[a] / float64(to-from+1)
			c.change[from] += share
			c.change[to+1] -= share
		}
	}
	sum := 0.0
	for i, d := range c.change {
		sum += d
		c.change[i] = sum
	}
	for p, s := range c.slot {
		out[p%c.nodes] += c.change[s]
	}
}

// sortPositions numbers the positions by total, and returns room for one number
// per total.
func (c *contest) sortPositions(total []int64, least, most int64) []int32 {
	next := make([]int32, most-least+2)
	for p := range c.slot {
		next[total[p%c.nodes]-least+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	for p := range c.slot {
		v := total[p%c.nodes] - least
		c.slot[p] = next[v]
		next[v]++
	}
	return next
}

// slide returns for each window of size values on the ring the greatest value.
func slide(values []int64, size int) []int64 {
	n := len(values)
	out := make([]int64, n)
	if !slices.ContainsFunc(values, func(v int64) bool { return v != values[0] }) {
		copy(out, values)
		return out
	}
	queue := make([]int32, n+size)
	head, tail := 0, 0
	for p := range n + size - 1 {
		v := values[p%n]
		for tail > head && values[int(queue[tail-1])%n] <= v {
			tail--
		}
		queue[tail] = int32(p)
		tail++
		if a := p - size + 1; a >= 0 {
			if int(queue[head]) < a {
				head++
			}
			out[a] = values[int(queue[head])%n]
		}
	}
	return out
}

// slideLeast returns for each window of size values the least value.
func slideLeast(values []int64, size int) []int64 {
	turned := make([]int64, len(values))
	for i, v := range values {
		turned[i] = -v
	}
	out := slide(turned, size)
	for i := range out {
		out[i] = -out[i]
	}
	return out
}
