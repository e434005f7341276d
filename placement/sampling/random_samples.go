package sampling

import (
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/score"
	"slices"
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

// mixInRandomSamples mixes the odds over every set of nodes, with the given weight, into
// those over the windows.
func (s *Sampler) mixInRandomSamples(weight float64) {
	if weight == 0 {
		return
	}
	if s.attempt.Replacement.Profile.Policy != nil {
		s.usePolicyTotals()
	}
	s.fillWindowWithAllNodes()
	s.computeRandomSampleOdds()
	for i, n := range s.nodes {
		p := &s.oddsByFeasible[s.feasibleNumber[n]-1]
		*p = (1-weight)**p + weight*s.randomOdds[s.groups.level[i]]
	}
}

// computeRandomSampleOdds finds what every node of a level has over all sets. The best nodes
// win where one of them is in the set, the next best where one of theirs is and
// none of the best, and so on, until one nearly always is. Scores are those
// beside all feasible nodes.
func (s *Sampler) computeRandomSampleOdds() {
	w, n := &s.window, len(s.nodes)
	s.randomOdds = cycle.ResizeFloat64(s.randomOdds, len(s.groups.levelScore))
	none, passed := 1.0, 0 // the probability that none of those passed is in the set
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

// fillWindowWithAllNodes puts all feasible nodes into the window.
func (s *Sampler) fillWindowWithAllNodes() {
	w, k := &s.window, &s.groups
	clear(w.nodesByLevel)
	clear(w.nodesByGroup)
	copy(w.topLevel, k.firstLevel)
	if n := len(s.nodes); len(k.level) > n { // addPivot has put the pivot at the end
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

// countAllDomains counts the domains of all feasible nodes. Of soft constraints that are
// not counted for each window, every window has all domains but the host names.
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

// usePolicyTotals makes the totals of a legacy Policy beside all feasible nodes the
// fixed sums of one kind.
func (s *Sampler) usePolicyTotals() {
	k := &s.groups
	s.readScoreInputs()
	clear(k.hasColumn)
	score.Score(s.attempt, s.nodes)
	k.fixedScore = append(k.fixedScore[:0], s.attempt.Scratch.Total...)
	s.findScoreGroups()
	s.resetWindow()
}
