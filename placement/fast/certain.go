package fast

import (
	"math/bits"
	"sort"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// A cover is a set of nodes of one node group with much free room: every window of the scheduler's sample contains at
// least coverDepth of them, whichever other nodes are feasible. At most maxLost of them may not count for a pod: they
// lost room, refuse the pod, or have pods that a score counts per node.
const (
	coverDepth = 24
	maxLost    = 16
	maxCovered = 16 // divisions of the nodes into groups with covers
)

type cover struct {
	positions []int32
	free      uint8 // least free percent of a node
	balance   int64 // least balance of a node; 0 if no score reads it
}

// coveredGroups is a division of the nodes into groups that have covers for samples of this size.
type coveredGroups struct {
	groups     *nodeGroups
	sampleSize int
}

// scoreBounds holds bounds of scores for the pod that is placed.
type scoreBounds struct {
	covered           map[coveredGroups][]cover // by group
	mostLoss          int                       // the pod lowers the free percent of a node by at most this
	leastRel, mostRel []int64                   // by group: bounds of the relative score; leastRel does not hold for special nodes
	possible          []uint64                  // bit set of positions
}

// PossibleWinners returns nodes of which bounds prove that the replacement of p lands on one of them, in both states of
// the victim. It costs a fraction of Predict. The result ok is false if the bounds prove nothing. The nodes are valid
// until the next call.
//
// The parameter from is the node that the victim leaves. In the model, the pod may be on another node already, as
// if its replacement had landed there.
//
// Every window contains nodes of a cover. The least score of such a node is a lower bound for the winner of every
// window. A node whose greatest score is below that bound cannot win. The result contains all others. A
// random sample contains no node of a cover with a probability below 10^-8; Predict neglects more. While the victim
// terminates, only its own node differs, and has less room. So what holds once it is gone holds before.
func (q *Predictor) PossibleWinners(in *cycle.Replacement, p cluster.PodID, from cluster.NodeID) (nodes prediction.NodeSet, ok bool) {
	m := q.nodes.model
	at := m.PodNode[p]
	if q.setPod(in, p); at == cluster.NoNode || from == cluster.NoNode || !q.boundsApply() {
		return nodes, false
	}
	m.AdjustSpread(p, at, -1)
	defer m.AdjustSpread(p, at, 1)
	m.AdjustUsage(p, at, -1)
	defer m.AdjustUsage(p, at, 1)
	q.listFeasible(from)
	q.top.computeBounds()
	least, ok := q.leastWinningScore()
	if !ok {
		return nodes, false
	}
	return q.possibleWinners(least), true
}

// Feasible returns the nodes that pass every filter once the victim is gone; see prediction.State. The set is valid
// until the next call of a method of the predictor.
func (q *Predictor) Feasible(in *cycle.Replacement, p cluster.PodID) prediction.NodeSet {
	q.setPod(in, p)
	q.nodes.model.InBothVictimStates(p, func(gone bool) {
		if gone {
			q.feasible.allowGroups()
			q.feasible.find()
		}
	})
	return q.feasible.set(&q.buffers[1])
}

// boundsApply reports whether the bounds hold for the pod: it requests little, estimates bound its scores, and these
// depend neither on images nor on inter-pod affinity.
func (q *Predictor) boundsApply() bool {
	in, v := q.pod.replacement, q.pod.view
	return v.estimates && !q.pod.findsTwice && in.StaticScores.Images == nil && len(v.unspread) == 0 &&
		len(v.scored)+len(v.scoredByNode)+len(v.anti)+len(in.InterPod.Required) == 0 &&
		in.CheckedRequests.MilliCPU <= q.nodes.mostMilliCPU/ampleFraction && in.CheckedRequests.MemoryBytes <= q.nodes.mostBytes/ampleFraction
}

// leastWinningScore returns a lower bound of the total score of the winner of any window. The result ok is false if
// there is none.
func (q *Predictor) leastWinningScore() (least int64, ok bool) {
	b, groups, as := &q.bounds, q.pod.view.groups, &q.pod.replacement.ScoredRequests
	b.mostLoss = percentRoundedUp(as.MilliCPU, q.nodes.leastMilliCPU) + percentRoundedUp(as.MemoryBytes, q.nodes.leastBytes)
	if !q.boundRelativeScores() {
		return 0, false
	}
	covers, least := q.coversOf(groups), int64(noScore)
	for g := range groups.nodes {
		if !q.feasible.groupAllowed[g] {
			continue
		}
		c := &covers[g]
		if !q.hasCover(c, g) {
			return 0, false
		}
		score := int64(max(int(c.free)-b.mostLoss, 0)>>1)*int64(q.top.freeFactor) + q.leastBalanced(c.balance) + b.leastRel[g]
		least = max(least, score)
	}
	return least, least > noScore
}

// percentRoundedUp returns part of whole in percent, rounded up, at most 100.
func percentRoundedUp(part, whole int64) int {
	return int((min(max(part, 0), whole)*scheduler.MaxScore + whole - 1) / whole)
}

// boundRelativeScores bounds the relative scores by group. It assumes that every window contains a node of every
// allowed group that is not special. The result is false if groups differ in other scores than topology spread.
//
// The spread score of a node is 100 x (most + least - raw) / most, where most and least are the extreme raw scores
// of the window. The raw score of a special node is at least that of its group, so least is that of the groups, and
// most is between that of the groups and that of all nodes. The score rises with most. The raw score rises with the
// number of nodes in the window.
func (q *Predictor) boundRelativeScores() bool {
	b, s, n := &q.bounds, &q.scores, len(q.pod.view.groups.nodes)
	s.findScoreGroups()
	q.top.computeBounds()
	s.emptyWindow()
	var first *scoreGroup
	for g, k := range s.groupOf {
		if !q.feasible.groupAllowed[g] {
			continue
		}
		s.change(windowMember{k, int32(g)}, 1)
		if x := &s.groups[k]; first == nil {
			first = x
		} else if x.scoreInputs != first.scoreInputs {
			return false
		}
	}
	s.updateSpreadScores(len(q.nodes.position))
	x := s.presentRanges()
	most := x
	for k := s.ordinary; k < len(s.groups); k++ {
		most.spreadMax = max(most.spreadMax, s.groups[k].spreadScore)
	}
	b.leastRel, b.mostRel = cycle.ResizeSlice(b.leastRel, n), cycle.ResizeSlice(b.mostRel, n)
	for g, k := range s.groupOf {
		b.leastRel[g], b.mostRel[g] = s.relativeScore(&s.groups[k], &x), s.relativeScore(&s.groups[k], &most)
	}
	return first != nil
}

// leastBalanced returns a lower bound of the weighted BalancedAllocation score of a node with at least this balance.
func (q *Predictor) leastBalanced(balance int64) int64 {
	weight, r := q.pod.replacement.Profile.Weights.BalancedAllocation, &q.pod.replacement.Requests
	if weight == 0 || r.MilliCPU == 0 && r.MemoryBytes == 0 {
		return 0
	}
	change := int64(max(percentRoundedUp(r.MilliCPU, q.nodes.leastMilliCPU), percentRoundedUp(r.MemoryBytes, q.nodes.leastBytes))/2 + 2)
	if q.nodes.balancedByGain {
		return weight * max(score.BalanceGain(0, change), 0)
	}
	return weight * max(balance-change, 0)
}

// possibleWinners returns the feasible nodes whose total score may reach least.
func (q *Predictor) possibleWinners(least int64) prediction.NodeSet {
	groups, count := q.pod.view.groups, 0
	q.bounds.possible = cycle.ResizeZeroed(q.bounds.possible, len(q.feasible.bits))
	for g, mine := range groups.bits {
		first := groups.firstWord[g]
		most := func(f int) int64 { return q.top.maxScore(int32(f)*q.top.freeFactor) + q.bounds.mostRel[g] }
		for f := q.nodes.maxFreePercent(); f >= 0 && most(f) >= least; f-- {
			if q.nodes.countByFree[f] == 0 {
				continue
			}
			for i, word := range q.nodes.positionsByFree[f][first : first+len(mine)] {
				word &= mine[i] & q.feasible.bits[first+i]
				q.bounds.possible[first+i] |= word
				count += bits.OnesCount64(word)
			}
		}
	}
	return prediction.NodeSet{Count: count, Bits: q.bounds.possible, Position: q.nodes.position, Order: q.nodes.model.NodeOrder}
}

// coversOf returns the covers by group. Those that are not found yet are empty.
func (q *Predictor) coversOf(groups *nodeGroups) []cover {
	key := coveredGroups{groups, q.pod.sampleSize}
	covers, known := q.bounds.covered[key]
	if !known {
		if len(q.bounds.covered) == maxCovered {
			clear(q.bounds.covered)
		}
		covers = make([]cover, len(groups.nodes))
		q.bounds.covered[key] = covers
	}
	return covers
}

// hasCover reports whether the group has a cover for the pod. It finds a new one if many nodes have lost room.
func (q *Predictor) hasCover(c *cover, g int) bool {
	stale, lost := q.countLost(c)
	if stale > maxLost/2 || len(c.positions) == 0 {
		if !q.findCover(c, g) {
			return false
		}
		_, lost = q.countLost(c)
	}
	return lost <= maxLost
}

// countLost counts the nodes of a cover that lack its room or balance, and all that do not count for the pod.
func (q *Predictor) countLost(c *cover) (stale, lost int) {
	for _, at := range c.positions {
		word, shift := at>>6, at&63
		switch {
		case q.nodes.freePercent[at] < c.free || q.nodes.amplePositions[word]>>shift&1 == 0 || q.nodes.scoring[at].balance < c.balance:
			stale++
		case q.feasible.bits[word]&^q.special.positions[word]>>shift&1 == 0:
			lost++
		}
	}
	return stale, stale + lost
}

// findCover finds the cover with the most free room among the ample nodes of a group. The result is false if there is
// none.
func (q *Predictor) findCover(c *cover, g int) bool {
	covers := func(free int) bool {
		q.listAmple(c, g, uint8(free))
		return c.coversEveryWindow(q.pod.sampleSize, len(q.nodes.position))
	}
	if !covers(0) {
		c.positions = c.positions[:0]
		return false
	}
	covers(sort.Search(q.nodes.maxFreePercent(), func(free int) bool { return !covers(free + 1) }))
	if c.balance = 0; !q.nodes.balancedByGain {
		c.balance = scheduler.MaxScore
		for _, at := range c.positions {
			c.balance = min(c.balance, q.nodes.scoring[at].balance)
		}
	}
	return true
}

// listAmple makes the ample nodes of a group with at least this free percent the cover.
func (q *Predictor) listAmple(c *cover, g int, free uint8) {
	c.free, c.positions = free, c.positions[:0]
	first := q.pod.view.groups.firstWord[g]
	for i, word := range q.pod.view.groups.bits[g] {
		for word &= q.nodes.amplePositions[first+i]; word != 0; word &= word - 1 {
			if at := int32((first+i)<<6 + bits.TrailingZeros64(word)); q.nodes.freePercent[at] >= free {
				c.positions = append(c.positions, at)
			}
		}
	}
}

// coversEveryWindow reports whether every run of size positions contains coverDepth of the nodes. A window contains
// at least such a run. The positions wrap around at n.
func (c *cover) coversEveryWindow(size, n int) bool {
	count := len(c.positions)
	if count < coverDepth {
		return false
	}
	for i, at := range c.positions {
		next := i + coverDepth
		if int(c.positions[next%count])+next/count*n-int(at) > size {
			return false
		}
	}
	return true
}
