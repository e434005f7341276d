package sampling

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/score"
	"slices"
	"sort"
)

// Workers in parallel take the nodes of the walk in chunks of about the square
// root of their number. Where they stop, some chunks are done in part: the sample
// is not quite the window that follows its start, the less so the more processors
// there are. How it is scattered cannot be known. So a fixed part of the odds is
// what they were if every set of feasible nodes of the sample's size were as
// likely as any other. scattered is that part; it is set by what the scheduler's
// own algorithm was seen to do (docs/reference/placement.md).
const RandomSampleWeight = 0.15

// Negligible is the probability below which nodes are left out: that none of those
// that are better is in the sample.
const Negligible = 1e-4

// scatter mixes the odds over every set of nodes, with the given weight, into
// those over the windows.
func (s *Sampler) scatter(weight float64) {
	if weight == 0 {
		return
	}
	if s.r.Replacement.Profile.Policy != nil {
		s.takeTotals()
	}
	s.fill()
	s.dealSets()
	for i, n := range s.nodes {
		p := &s.byNode[s.place[n]-1]
		*p = (1-weight)**p + weight*s.share[s.kinds.level[i]]
	}
}

// dealSets finds what every node of a level has over all sets. The best nodes
// win where one of them is in the set, the next best where one of theirs is and
// none of the best, and so on, until one nearly always is. Scores are those
// beside all feasible nodes.
func (s *Sampler) dealSets() {
	w, n := &s.window, len(s.nodes)
	s.share = cycle.ResizeFloat64(s.share, len(s.kinds.value))
	none, passed := 1.0, 0 // the probability that none of those passed is in the set
	for none >= Negligible && passed < n {
		s.findBest()
		better, count := none, 0
		for _, level := range w.winners {
			count += int(w.inside[level])
		}
		for range count {
			none *= float64(max(n-s.size-passed, 0)) / float64(n-passed)
			passed++
		}
		for _, level := range w.winners {
			s.share[level] = (better - none) / float64(count)
			w.kind[s.kinds.with(level)] -= w.inside[level]
			w.inside[level] = 0
		}
	}
	for level := range s.share {
		s.share[level] /= 1 - none
	}
}

// fill puts all feasible nodes into the window.
func (s *Sampler) fill() {
	w, k := &s.window, &s.kinds
	clear(w.inside)
	clear(w.kind)
	copy(w.top, k.start)
	if n := len(s.nodes); len(k.level) > n { // addPivot has put the pivot at the end
		k.level[s.shared.pivot] = k.level[n]
	}
	for _, level := range k.level[:len(s.nodes)] {
		w.inside[level]++
	}
	for kind := range w.kind {
		for level := k.start[kind]; level < k.start[kind+1]; level++ {
			if w.inside[level] > 0 {
				w.kind[kind] += w.inside[level]
				w.top[kind] = level
			}
		}
	}
	s.countAll()
	if w.fresh || !slices.Equal(w.domains, w.weighed) {
		s.weigh()
	}
	s.measure()
}

// countAll counts the domains of all feasible nodes. Of soft constraints that are
// not counted for each window, every window has all domains but the host names.
func (s *Sampler) countAll() {
	w := &s.window
	for c := range s.r.Replacement.Spread.Soft {
		if s.kinds.on[softColumn+c] && s.r.Replacement.Spread.Soft[c].Hostname {
			w.domains[c] = int32(len(s.nodes))
		}
	}
	for _, c := range w.counted {
		clear(w.counts[c])
		w.domains[c] = 0
	}
	if len(w.counted) > 0 {
		for i := range s.nodes {
			s.countDomains(i, 1)
		}
	}
}

// takeTotals makes the totals of a legacy Policy beside all feasible nodes the
// fixed sums of one kind.
func (s *Sampler) takeTotals() {
	k := &s.kinds
	s.readColumns()
	clear(k.on)
	score.Score(s.r, s.nodes)
	k.fixed = append(k.fixed[:0], s.r.Scratch.Total...)
	s.findKinds()
	s.open()
}

// with is the kind that has the level.
func (k *kinds) with(level int32) int {
	return sort.Search(k.count, func(kind int) bool { return k.start[kind] > level }) - 1
}
