package sampling

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
)

// previousWindows keeps the windows of the first state of the victim for the second state. Usually
// the two states differ only in the victim's node. Windows without the victim's node have the same
// outcome in both states, so the sampler scores these windows first and stores the result.
type previousWindows struct {
	replacement *cycle.Replacement // whose windows are stored; nil: none
	changedNode int                // index of the node that the stored windows do not contain
	column      [][]int64          // columns of the previous state; scratch of the next one
	fixedScore  []int64
	hasColumn   []bool
	window      slidingWindow
}

// readScores reads the scores of the attempt, and keeps the scores of the previous state.
func (s *Sampler) readScores() {
	x, k := &s.previous, &s.groups
	x.column, k.column = k.column, x.column
	x.fixedScore, k.fixedScore = k.fixedScore, x.fixedScore
	x.hasColumn, k.hasColumn = k.hasColumn, x.hasColumn
	s.readScoreInputs()
	s.sumFixedScores()
}

// scoreEveryWindow computes the odds over all windows. Each window splits its probability equally
// between the nodes with its best total.
func (s *Sampler) scoreEveryWindow() {
	n, x := len(s.nodes), &s.previous
	s.findScoreGroups()
	s.resetWindow()
	x.changedNode = n - 1
	if v := s.attempt.Model.PodNode[s.attempt.Victim]; v != cluster.NoNode && s.feasibleNumber[v] > 0 {
		x.changedNode = slices.Index(s.nodes, v)
	}
	first := (x.changedNode + 1) % n
	for i := range s.sampleSize - 1 {
		s.addNode((first + i) % n)
	}
	s.slideWindow(first, n-s.sampleSize)
	x.replacement = s.attempt.Replacement
	x.window.copyFrom(&s.window)
	s.scoreWindowsWithChangedNode(x.changedNode)
}

// rescoreChangedWindows returns false unless only the changed node differs from the first state. To
// compute the odds, rescoreChangedWindows scores only the windows that contain the changed node.
func (s *Sampler) rescoreChangedWindows() bool {
	x, k, n := &s.previous, &s.groups, len(s.nodes)
	if x.replacement != s.attempt.Replacement {
		return false
	}
	x.replacement = nil
	for c := range spreadColumn + len(s.attempt.Replacement.Spread.Soft) {
		if k.hasColumn[c] != x.hasColumn[c] || k.hasColumn[c] && !x.equalExceptChanged(x.column[c], k.column[c]) {
			return false
		}
	}
	if !x.equalExceptChanged(x.fixedScore, k.fixedScore) {
		return false
	}
	s.window.copyFrom(&x.window)
	s.appendChangedNode()
	s.scoreWindowsWithChangedNode(n)
	s.window.odds[x.changedNode] = s.window.odds[n]
	s.nodes = s.nodes[:n]
	return true
}

func (x *previousWindows) equalExceptChanged(a, b []int64) bool {
	p := x.changedNode
	return slices.Equal(a[:p], b[:p]) && slices.Equal(a[p+1:], b[p+1:])
}

// appendChangedNode appends a node with the new scores of the changed node, in a new score group
// and a new level.
func (s *Sampler) appendChangedNode() {
	x, k, w, n := &s.previous, &s.groups, &s.window, len(s.nodes)
	value := k.fixedScore[x.changedNode]
	for c, column := range k.column {
		k.column[c] = append(column, column[x.changedNode])
		if k.hasColumn[c] {
			k.column[c][x.changedNode] = x.column[c][x.changedNode]
		}
	}
	s.nodes = append(s.nodes, s.nodes[x.changedNode])
	kind, level := int32(k.count), int32(len(k.levelScore))
	k.count++
	k.ofNode, k.level = append(k.ofNode[:n], kind), append(k.level[:n], level)
	k.firstNode, k.levelScore = append(k.firstNode, int32(n)), append(k.levelScore, value)
	k.firstLevel = append(k.firstLevel, level+1)
	w.nodesByLevel, w.creditByLevel = append(w.nodesByLevel, 0), append(w.creditByLevel, 0)
	w.creditAtEntry, w.odds = append(w.creditAtEntry, 0), append(w.odds, 0)
	w.nodesByGroup, w.topLevel = append(w.nodesByGroup, 0), append(w.topLevel, level)
	w.relativeScore, w.scoreVersion = append(w.relativeScore, 0), append(w.scoreVersion, 0)
	w.rawSpread = append(w.rawSpread, s.rawSpreadScore(int(kind)))
}

// slideWindow scores `windows` windows, the first of which begins at index from. The window must
// already contain all nodes of the first window except the last.
func (s *Sampler) slideWindow(from, windows int) {
	n := s.nodeCount()
	last := (from + s.sampleSize - 1) % n
	for range windows {
		s.addNode(last)
		s.creditBestLevels(from, last)
		s.removeNode(from)
		if from++; from == n {
			from = 0
		}
		if last++; last == n {
			last = 0
		}
	}
}

// scoreWindowsWithChangedNode scores the windows that contain the changed node, which has the index
// pivot. Afterwards, all nodes of the last window get their odds.
func (s *Sampler) scoreWindowsWithChangedNode(pivot int) {
	n, at := s.nodeCount(), s.previous.changedNode
	from := (at + 1 + n - s.sampleSize) % n
	s.addNode(pivot)
	s.creditBestLevels(from, pivot)
	s.removeNode(from)
	s.slideWindow((from+1)%n, s.sampleSize-2)
	last := (at + s.sampleSize - 1) % n
	s.addNode(last)
	s.creditBestLevels(at, last)
	s.addNodeOdds(pivot)
	for i := range s.sampleSize - 1 {
		s.addNodeOdds((at + 1 + i) % n)
	}
}

// creditBestLevels adds the probability of the window that begins at index from to its best levels.
// The node with the index last has just entered.
func (s *Sampler) creditBestLevels(from, last int) {
	w := &s.window
	if w.spreadScoresUnknown || len(w.countedConstraints) > 0 && !slices.Equal(w.domainCount, w.weightedDomains) {
		s.updateSpreadScores()
	}
	if w.rangesStale {
		s.updateRanges()
	}
	if w.bestUnknown {
		s.findBestLevels()
	} else {
		s.compareWithBest(last)
	}
	w.maxTotal = max(w.maxTotal, w.bestTotal)
	ties := int32(0)
	for _, level := range w.bestLevels {
		ties += w.nodesByLevel[level]
	}
	share := s.startProbability[from]
	if ties > 1 {
		share /= float64(ties)
	}
	for _, level := range w.bestLevels {
		w.creditByLevel[level] += share
	}
}

// copyFrom copies another window into the slices of this window.
func (w *slidingWindow) copyFrom(from *slidingWindow) {
	own := *w
	*w = *from
	w.nodesByLevel, w.nodesByGroup, w.topLevel = append(own.nodesByLevel[:0], from.nodesByLevel...), append(own.nodesByGroup[:0], from.nodesByGroup...), append(own.topLevel[:0], from.topLevel...)
	w.creditByLevel, w.creditAtEntry, w.odds = append(own.creditByLevel[:0], from.creditByLevel...), append(own.creditAtEntry[:0], from.creditAtEntry...), append(own.odds[:0], from.odds...)
	w.bestLevels, w.countedConstraints = append(own.bestLevels[:0], from.bestLevels...), append(own.countedConstraints[:0], from.countedConstraints...)
	w.relativeScore, w.scoreVersion, w.rawSpread = append(own.relativeScore[:0], from.relativeScore...), append(own.scoreVersion[:0], from.scoreVersion...), append(own.rawSpread[:0], from.rawSpread...)
	w.domainCount, w.weightedDomains, w.spreadWeights = append(own.domainCount[:0], from.domainCount...), append(own.weightedDomains[:0], from.weightedDomains...), append(own.spreadWeights[:0], from.spreadWeights...)
	w.nodesByDomain = own.nodesByDomain
	for len(w.nodesByDomain) < len(from.nodesByDomain) {
		w.nodesByDomain = append(w.nodesByDomain, nil)
	}
	for c := range from.nodesByDomain {
		w.nodesByDomain[c] = append(w.nodesByDomain[c][:0], from.nodesByDomain[c]...)
	}
}
