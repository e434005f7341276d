package placement

import (
	"math"
)

// norm is what the scores of one node depend on beyond the node itself: extremes
// over the sample. Two samples with the same norm give a node the same total.
type norm struct {
	taints, preferred       int64 // greatest counts
	interLeast, interMost   int64
	shape                   int32 // index of the spread's shape
	spreadLeast, spreadMost int64
}

// spreadShape is the number of nodes and domains of a sample that soft spread
// constraints weigh by, with the raw scores that come of it.
type spreadShape struct {
	raw         []int64 // by node of the walk; 0 where skipped
	least, most []int64 // by window
}

// normOf prepares what windows are normalised by, and returns it by window. It
// keeps raw scores in the scratch, in the order of the walk.
func (s *sampler) normOf() func(window int) norm {
	in, b := s.r.in, &s.r.w.buf
	taints := slide(s.raw(0, in.fixed.taints), s.size)
	preferred := taints
	if in.fixed.preferred != nil {
		preferred = slide(s.raw(1, in.fixed.preferred), s.size)
	}
	var least, most []int64
	if len(in.inter.scored) > 0 {
		sums := make([]int64, len(s.nodes))
		s.r.interSums(s.nodes, sums)
		b.sample[2] = sums
		least, most = slideLeast(sums, s.size), slide(sums, s.size)
	}
	shapes := s.spreadShapes()
	return func(a int) norm {
		x := norm{taints: taints[a]}
		if in.fixed.preferred != nil {
			x.preferred = preferred[a]
		}
		if least != nil {
			x.interLeast, x.interMost = least[a], most[a]
		}
		if shapes != nil {
			x.shape = shapes[a]
			sh := &b.shapes[x.shape]
			x.spreadLeast, x.spreadMost = sh.least[a], max(sh.most[a], 0)
		}
		return x
	}
}

// raw copies values by node into the order of the walk.
func (s *sampler) raw(k int, byNode []int64) []int64 {
	b := &s.r.w.buf
	b.sample[k] = resized(b.sample[k], len(s.nodes))
	for i, n := range s.nodes {
		b.sample[k][i] = byNode[n]
	}
	return b.sample[k]
}

// spreadShapes finds the shape of each window; nil without soft constraints.
func (s *sampler) spreadShapes() []int32 {
	soft := s.r.in.spread.soft
	b := &s.r.w.buf
	b.shapes = b.shapes[:0]
	if len(soft) == 0 {
		return nil
	}
	// A shape is its numbers of domains, one per constraint, folded to one.
	shape, domains := make([]int32, len(s.nodes)), [][]int32{}
	folded, number := make([][2]int32, 0, 1), map[[2]int32]int32{}
	for k := range soft {
		domains = append(domains, s.domainsByWindow(&soft[k]))
		clear(number)
		folded = folded[:0]
		for a, d := range domains[k] {
			key := [2]int32{shape[a], d}
			if a > 0 && folded[shape[a-1]] == key {
				shape[a] = shape[a-1]
				continue
			}
			id, ok := number[key]
			if !ok {
				id = int32(len(folded))
				number[key], folded = id, append(folded, key)
			}
			shape[a] = id
		}
	}
	b.shapes = make([]spreadShape, len(folded))
	for a, id := range shape {
		if b.shapes[id].raw == nil {
			b.shapes[id] = s.spreadOf(domains, a)
		}
	}
	return shape
}

// skipped reports that soft constraints give the node no score.
func (s *sampler) skipped(k int) bool {
	rules := &s.r.in.spread
	return rules.requireAll && !rules.softNode[s.nodes[k]]
}

// domainsByWindow counts the domains that a window's scored nodes are in; for
// the host name, those nodes.
func (s *sampler) domainsByWindow(c *constraint) []int32 {
	size := c.topo.size
	if c.hostname {
		size = 1
	}
	n, inside := len(s.nodes), make([]int32, max(size, 1))
	out := make([]int32, n)
	var domains int32
	count := func(p int, by int32) {
		k := p % n
		if s.skipped(k) {
			return
		}
		if c.hostname {
			domains += by
			return
		}
		x := domainOrEmpty(c.topo, int(s.nodes[k]))
		inside[x] += by
		if by > 0 && inside[x] == 1 || by < 0 && inside[x] == 0 {
			domains += by
		}
	}
	for p := range s.size {
		count(p, 1)
	}
	for a := range out {
		out[a] = domains
		count(a, -1)
		count(a+s.size, 1)
	}
	return out
}

// spreadOf computes the raw scores by the domains of window a.
func (s *sampler) spreadOf(domains [][]int32, a int) spreadShape {
	n := len(s.nodes)
	sums := make([]float64, n)
	soft := s.r.in.spread.soft
	for k := range soft {
		s.addSpread(&soft[k], math.Log(float64(domains[k][a]+2)), sums)
	}
	low := make([]int64, n)
	sh := spreadShape{raw: make([]int64, n)}
	for i, x := range sums {
		if s.skipped(i) {
			low[i] = math.MaxInt64
			continue
		}
		sh.raw[i] = int64(math.Round(x))
		low[i] = sh.raw[i]
	}
	sh.least, sh.most = slideLeast(low, s.size), slide(sh.raw, s.size)
	return sh
}

// addSpread adds the terms of one soft constraint.
func (s *sampler) addSpread(c *constraint, weight float64, sums []float64) {
	r := s.r
	pods := c.pods.perNode
	if !c.hostname {
		pods = r.softCounts(c)
	}
	for i, n := range s.nodes {
		x := c.topo.domain[n]
		if x == noDomain || s.skipped(i) {
			continue
		}
		at := int(x)
		if c.hostname {
			at = int(n)
		}
		sums[i] += spreadTerm(pods[at], weight, c.maxSkew)
	}
}

// totals computes the total of every node, in the order of the walk, as samples
// of one norm have them.
func (s *sampler) totals(g int, out []int64) {
	b, x, weights := &s.r.w.buf, &s.norms[g], s.r.w.weights.list()
	for i, k := range s.index {
		sum := weights[scoreLeast]*b.scores[scoreLeast][k] + weights[scoreBalanced]*b.scores[scoreBalanced][k]
		if !s.r.idleScore(scoreImages) {
			sum += weights[scoreImages] * b.scores[scoreImages][k]
		}
		if !s.r.idleScore(scoreVolumes) {
			sum += weights[scoreVolumes] * b.scores[scoreVolumes][k]
		}
		out[i] = sum
	}
	in := s.r.in
	addScores(out, b.sample[0], weights[scoreTaints], func(v int64) int64 { return maxScore - part(v, x.taints) })
	if in.fixed.preferred != nil {
		addScores(out, b.sample[1], weights[scoreNodeAffinity], func(v int64) int64 { return part(v, x.preferred) })
	}
	if len(in.inter.scored) > 0 {
		addScores(out, b.sample[2], weights[scoreInterPod], func(v int64) int64 { return stretch(v, x.interLeast, x.interMost) })
	}
	if len(in.spread.soft) == 0 {
		return
	}
	weight := weights[scoreSpread]
	for i, v := range b.shapes[x.shape].raw {
		if s.skipped(i) {
			continue
		}
		if x.spreadMost == 0 {
			out[i] += weight * maxScore
			continue
		}
		out[i] += weight * (maxScore * (x.spreadMost + x.spreadLeast - v) / x.spreadMost)
	}
}

// addScores adds weighted scores; most nodes are like the one before.
func addScores(out, raw []int64, weight int64, score func(int64) int64) {
	last, add := raw[0], weight*score(raw[0])
	for i, v := range raw {
		if v != last {
			last, add = v, weight*score(v)
		}
		out[i] += add
	}
}

// part is v in percent of the most, 0 where that is 0.
func part(v, most int64) int64 {
	if most == 0 {
		return 0
	}
	return maxScore * v / most
}
