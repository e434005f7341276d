package sampling

import (
	"math"
	"slices"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// windowScorer keeps the best nodes of a window while nodes enter and leave it.
type windowScorer struct {
	nodeScores
	window slidingWindow
}

// slidingWindow is the current sample. Most data stays the same when a node enters or leaves. The
// ranges change only if a group with an extreme value enters or leaves. The best nodes change only
// if one of the best nodes leaves, or an equally good node enters.
type slidingWindow struct {
	nodesByLevel []int32 // by level: number of nodes inside
	nodesByGroup []int32 // by group: number of nodes inside
	topLevel     []int32 // by group: no higher level has a node inside

	// creditByLevel is the sum of the odds that each node of a level earns while the node is in the
	// window. creditAtEntry is the creditByLevel at the time the node entered.
	creditByLevel []float64
	creditAtEntry []float64
	odds          []float64 // by node: probability that it is chosen
	maxTotal      int64     // best total of any window until now

	bestTotal   int64
	bestLevels  []int32 // levels with the best total that have a node inside
	bestUnknown bool    // bestLevels must be searched again

	ranges        Ranges
	rangesStale   bool    // ranges must be recomputed
	rangesVersion int32   // grows with every change of ranges
	relativeScore []int64 // by group
	scoreVersion  []int32 // by group: the rangesVersion of relativeScore
	rawSpread     []int64 // by group

	spreadScoresUnknown bool      // rawSpread must be recomputed
	domainCount         []int32   // by soft constraint
	weightedDomains     []int32   // the domainCount that rawSpread was computed with
	spreadWeights       []float64 // by soft constraint: weight that rawSpread was computed with
	nodesByDomain       [][]int32 // by soft constraint, except host name: number of nodes by domain
	countedConstraints  []int     // soft constraints whose domains differ between windows
}

// Ranges are the smallest and largest raw scores in a sample. The ranges normalise raw scores to
// 0..100.
type Ranges struct {
	Taints, Preferred        int64 // maximum; the minimum is 0
	InterPodMin, InterPodMax int64
	SpreadMin, SpreadMax     int64
}

func (s *windowScorer) resetWindow() {
	w, k := &s.window, &s.groups
	levels := len(k.levelScore)
	w.nodesByLevel, w.nodesByGroup = cycle.ResizeZeroed(w.nodesByLevel, levels), cycle.ResizeZeroed(w.nodesByGroup, k.count)
	w.topLevel = append(w.topLevel[:0], k.firstLevel[:k.count]...)
	w.creditByLevel, w.creditAtEntry = cycle.ResizeZeroed(w.creditByLevel, levels), cycle.ResizeZeroed(w.creditAtEntry, len(s.nodes))
	w.odds = cycle.ResizeZeroed(w.odds, len(s.nodes))
	w.maxTotal, w.spreadScoresUnknown = 0, true
	w.relativeScore, w.rawSpread = cycle.ResizeSlice(w.relativeScore, k.count), cycle.ResizeSlice(w.rawSpread, k.count)
	w.scoreVersion = cycle.ResizeZeroed(w.scoreVersion, k.count)
	w.rangesVersion, w.bestUnknown, w.rangesStale = 1, true, true
	soft := len(s.attempt.Replacement.Spread.Soft)
	w.domainCount, w.weightedDomains, w.countedConstraints = cycle.ResizeSlice(w.domainCount, soft), cycle.ResizeSlice(w.weightedDomains, soft), w.countedConstraints[:0]
	for len(w.nodesByDomain) < soft {
		w.nodesByDomain = append(w.nodesByDomain, nil)
	}
	for c := range soft {
		w.domainCount[c], w.weightedDomains[c] = 0, -1
		if k.hasColumn[spreadColumn+c] && !s.hasConstantDomains(c) {
			w.countedConstraints = append(w.countedConstraints, c)
		}
	}
}

func (s *windowScorer) addNode(i int) {
	w, kind, level := &s.window, s.groups.ofNode[i], s.groups.level[i]
	w.creditAtEntry[i] = w.creditByLevel[level]
	w.nodesByLevel[level]++
	w.nodesByGroup[kind]++
	w.topLevel[kind] = max(w.topLevel[kind], level)
	if len(w.countedConstraints) > 0 {
		s.updateDomainCounts(i, 1)
	}
	w.rangesStale = w.rangesStale || w.nodesByGroup[kind] == 1 && s.affectsRanges(kind)
}

// compareWithBest compares the node that has entered with the best nodes.
func (s *windowScorer) compareWithBest(i int) {
	w, kind, level := &s.window, s.groups.ofNode[i], s.groups.level[i]
	switch total := s.relativeScore(kind) + s.groups.levelScore[level]; {
	case total > w.bestTotal:
		w.bestTotal, w.bestLevels = total, append(w.bestLevels[:0], level)
	case total == w.bestTotal && w.nodesByLevel[level] == 1:
		w.bestLevels = append(w.bestLevels, level)
	}
}

// removeNode removes the node at index i from the window and adds up its odds.
func (s *windowScorer) removeNode(i int) {
	w, kind, level := &s.window, s.groups.ofNode[i], s.groups.level[i]
	s.addNodeOdds(i)
	w.nodesByLevel[level]--
	w.nodesByGroup[kind]--
	if len(w.countedConstraints) > 0 {
		s.updateDomainCounts(i, -1)
	}
	if w.nodesByGroup[kind] == 0 && s.affectsRanges(kind) {
		w.rangesStale = true
	}
	if w.nodesByLevel[level] > 0 {
		return
	}
	if at := slices.Index(w.bestLevels, level); at >= 0 {
		w.bestLevels = slices.Delete(w.bestLevels, at, at+1)
		w.bestUnknown = w.bestUnknown || len(w.bestLevels) == 0
	}
}

// addNodeOdds adds the odds that the node's level was credited since the node entered the window.
func (s *windowScorer) addNodeOdds(i int) {
	w := &s.window
	w.odds[i] += w.creditByLevel[s.groups.level[i]] - w.creditAtEntry[i]
}

// hasSpreadScore reports whether the soft constraints score the nodes of a group.
func (s *windowScorer) hasSpreadScore(kind int32) bool {
	k := &s.groups
	return len(k.hasColumn) > spreadColumn && k.hasColumn[spreadColumn] && k.column[spreadColumn][k.firstNode[kind]] != notScored
}

// affectsRanges reports whether a raw score of the group is at or beyond the ranges of the sample.
func (s *windowScorer) affectsRanges(kind int32) bool {
	w, k := &s.window, &s.groups
	x, i := &w.ranges, k.firstNode[kind]
	at := func(c int, most int64) bool { return k.hasColumn[c] && k.column[c][i] > 0 && k.column[c][i] >= most }
	if at(taintColumn, x.Taints) || at(affinityColumn, x.Preferred) {
		return true
	}
	if v := k.column[interPodColumn][i]; k.hasColumn[interPodColumn] && (v <= x.InterPodMin || v >= x.InterPodMax) {
		return true
	}
	return s.hasSpreadScore(kind) && (w.rawSpread[kind] <= x.SpreadMin || w.rawSpread[kind] >= x.SpreadMax)
}

func (s *windowScorer) updateRanges() {
	w, k := &s.window, &s.groups
	x := Ranges{InterPodMin: math.MaxInt64, InterPodMax: math.MinInt64, SpreadMin: math.MaxInt64}
	for kind, nodes := range w.nodesByGroup {
		if nodes == 0 {
			continue
		}
		i := k.firstNode[kind]
		if k.hasColumn[taintColumn] {
			x.Taints = max(x.Taints, k.column[taintColumn][i])
		}
		if k.hasColumn[affinityColumn] {
			x.Preferred = max(x.Preferred, k.column[affinityColumn][i])
		}
		if k.hasColumn[interPodColumn] {
			v := k.column[interPodColumn][i]
			x.InterPodMin, x.InterPodMax = min(x.InterPodMin, v), max(x.InterPodMax, v)
		}
		if s.hasSpreadScore(int32(kind)) {
			v := w.rawSpread[kind]
			x.SpreadMin, x.SpreadMax = min(x.SpreadMin, v), max(x.SpreadMax, v)
		}
	}
	if x != w.ranges {
		w.ranges, w.bestUnknown = x, true
		w.rangesVersion++
	}
	w.rangesStale = false
}

// relativeScore returns the weighted sum of the relative scores of a group in the window.
func (s *windowScorer) relativeScore(kind int32) int64 {
	w := &s.window
	if w.scoreVersion[kind] != w.rangesVersion {
		w.relativeScore[kind], w.scoreVersion[kind] = s.computeRelativeScore(kind), w.rangesVersion
	}
	return w.relativeScore[kind]
}

func (s *windowScorer) computeRelativeScore(kind int32) (sum int64) {
	k, x, weights := &s.groups, &s.window.ranges, &s.attempt.Replacement.Profile.Weights
	i := k.firstNode[kind]
	if k.hasColumn[taintColumn] {
		sum += weights.TaintToleration * (scheduler.MaxScore - PercentOfMax(k.column[taintColumn][i], x.Taints))
	}
	if k.hasColumn[affinityColumn] {
		sum += weights.NodeAffinity * PercentOfMax(k.column[affinityColumn][i], x.Preferred)
	}
	if k.hasColumn[interPodColumn] {
		sum += weights.InterPodAffinity * score.ScaleToRange(k.column[interPodColumn][i], x.InterPodMin, x.InterPodMax, scheduler.MaxScore)
	}
	switch {
	case !s.hasSpreadScore(kind):
	case x.SpreadMax == 0:
		sum += weights.PodTopologySpread * scheduler.MaxScore
	default:
		sum += weights.PodTopologySpread * (scheduler.MaxScore * (x.SpreadMax + x.SpreadMin - s.window.rawSpread[kind]) / x.SpreadMax)
	}
	return sum
}

// findBestLevels searches all groups for the levels with the best total.
func (s *windowScorer) findBestLevels() {
	w, k := &s.window, &s.groups
	w.bestLevels, w.bestUnknown = w.bestLevels[:0], false
	for kind, nodes := range w.nodesByGroup {
		if nodes == 0 {
			continue
		}
		for w.nodesByLevel[w.topLevel[kind]] == 0 {
			w.topLevel[kind]--
		}
		level := w.topLevel[kind]
		total := s.relativeScore(int32(kind)) + k.levelScore[level]
		if len(w.bestLevels) == 0 || total > w.bestTotal {
			w.bestTotal, w.bestLevels = total, w.bestLevels[:0]
		}
		if total == w.bestTotal {
			w.bestLevels = append(w.bestLevels, level)
		}
	}
}

// PercentOfMax returns v in percent of most, 0 if most is 0.
func PercentOfMax(v, most int64) int64 {
	if most == 0 {
		return 0
	}
	return scheduler.MaxScore * v / most
}
