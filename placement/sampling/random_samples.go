package sampling

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
)

// RandomSampleWeight is the weight of a random sample in the odds, 0..1.
//
// The scheduler filters nodes in parallel, in chunks of about the square root of their number. When
// the search stops, some chunks are incomplete, so the sample is not exactly a window. The
// difference grows with the number of processors and cannot be predicted. For this share of the
// odds, the model assumes that every set of feasible nodes is equally likely. RandomSampleWeight
// was measured on the scheduler's own code (docs/reference/placement.md).
const RandomSampleWeight = 0.15

// Negligible is the probability of a sample without any better node at which
// computeRandomSampleOdds stops.
const Negligible = 1e-4

// mixInRandomSamples replaces the odds by (1 - weight) x odds of the windows + weight x odds of a
// random sample.
func (s *Sampler) mixInRandomSamples(weight float64) {
	if weight == 0 {
		return
	}
	s.fillWindowWithAllNodes()
	s.computeRandomSampleOdds()
	for i, n := range s.nodes {
		p := &s.oddsByFeasible[s.feasibleNumber[n]-1]
		*p = (1-weight)**p + weight*s.randomOdds[s.groups.level[i]]
	}
}

// computeRandomSampleOdds computes the probability of each node to win in a random sample. A node
// can win only if the sample contains no better node. The computation goes from the best nodes down
// and stops when the sample almost certainly contains a better node. Total scores are computed with
// all feasible nodes in the window.
func (s *Sampler) computeRandomSampleOdds() {
	w, n := &s.window, len(s.nodes)
	s.randomOdds = cycle.ResizeZeroed(s.randomOdds, len(s.groups.levelScore))
	none, passed := 1.0, 0 // none: probability that no passed node is in the sample
	for none >= Negligible && passed < n {
		s.findBestLevels()
		better, count := none, 0
		for _, level := range w.bestLevels {
			count += int(w.nodesByLevel[level])
		}
		for range count {
			none *= float64(max(n-s.sampleSize-passed, 0)) / float64(n-passed)
			passed++
		}
		for _, level := range w.bestLevels {
			s.randomOdds[level] = (better - none) / float64(count)
			w.nodesByGroup[s.groups.groupOfLevel(level)] -= w.nodesByLevel[level]
			w.nodesByLevel[level] = 0
		}
	}
	for level := range s.randomOdds {
		s.randomOdds[level] /= 1 - none
	}
}

func (s *Sampler) fillWindowWithAllNodes() {
	w, k := &s.window, &s.groups
	clear(w.nodesByLevel)
	clear(w.nodesByGroup)
	copy(w.topLevel, k.firstLevel)
	if n := len(s.nodes); len(k.level) > n { // appendChangedNode has added a node at the end
		k.level[s.previous.changedNode] = k.level[n]
	}
	for _, level := range k.level[:len(s.nodes)] {
		w.nodesByLevel[level]++
	}
	for kind := range w.nodesByGroup {
		for level := k.firstLevel[kind]; level < k.firstLevel[kind+1]; level++ {
			if w.nodesByLevel[level] > 0 {
				w.nodesByGroup[kind] += w.nodesByLevel[level]
				w.topLevel[kind] = level
			}
		}
	}
	s.countAllDomains()
	if w.spreadScoresUnknown || !slices.Equal(w.domainCount, w.weightedDomains) {
		s.updateSpreadScores()
	}
	s.updateRanges()
}

// countAllDomains counts the domains of all feasible nodes. For constraints outside
// countedConstraints every window has all domains, except those of the host name.
func (s *Sampler) countAllDomains() {
	w := &s.window
	for c := range s.attempt.Replacement.Spread.Soft {
		if s.groups.hasColumn[spreadColumn+c] && s.attempt.Replacement.Spread.Soft[c].Hostname {
			w.domainCount[c] = int32(len(s.nodes))
		}
	}
	for _, c := range w.countedConstraints {
		clear(w.nodesByDomain[c])
		w.domainCount[c] = 0
	}
	if len(w.countedConstraints) > 0 {
		for i := range s.nodes {
			s.updateDomainCounts(i, 1)
		}
	}
}
