package fast

import (
	"math"
	"math/bits"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// topNodes lists the best feasible nodes of each score group by fixed score: the part of the score
// that no other node changes.
type topNodes struct {
	feasibility
	scoreLists   []scoreList // by score group
	topScores    topScores
	specialNodes []specialNode
	specialOrder []uint64 // scratch of listSpecialNodes
}

// scoreList lists feasible nodes of one score group by falling fixed score. A score list starts
// with the best nodes; listMoreNodes extends the list.
type scoreList struct {
	nodes       []int32 // indexes of feasible nodes; by level, then in node order
	levelScores []int32 // by level, falling
	levelStarts []int32 // by level: its start in nodes; then the end
	unlistedMax int32   // upper bound of the unlisted scores; noScore: all nodes are listed

	found, foundScores []int32 // input of sortLevels: feasible indexes, and their positions or scores
}

const noScore = math.MinInt32

// topScores decides how many nodes of each group are scored. Computing a score costs more than an
// estimate, and only the best nodes matter.
//
// The estimate of a node is twice its weighted score for free resources and images. The requests of
// the new pod are not included. The estimate of a node gives an upper bound of its score.
type topScores struct {
	minLoss       int32 // the pod lowers every estimate by at least this
	maxBalanced   int32 // upper bound of the weighted BalancedAllocation score
	estimateSlack int   // estimates may differ by this if scores are equal
	estimateRange int   // every estimate is below it

	freeFactor, imageFactor         int32   // weights of free percent and image score in an estimate
	wantedNodes                     []int   // by group: number of nodes to list; 0: none listed yet
	minEstimate                     []int32 // by group: smallest estimate that is listed
	countByEstimate                 []int32 // number of nodes by estimate; scratch of sortLevels
	entries                         []uint64
	groupPositions, pickedPositions []uint64 // bit sets: positions of the group, and of the nodes to list
}

// At first listMoreNodes lists as many nodes as initialWindows windows contain. Each further call
// multiplies the number by quotaFactor.
const (
	initialWindows = 10
	quotaFactor    = 4
)

func (q *topNodes) initTopScores() {
	h, groups := &q.topScores, len(q.view.groups.nodes)
	q.computeBounds()
	for len(q.scoreLists) < groups {
		q.scoreLists = append(q.scoreLists, scoreList{})
	}
	h.wantedNodes, h.minEstimate = h.wantedNodes[:0], cycle.ResizeSlice(h.minEstimate, groups)
	for g := range groups {
		h.wantedNodes = append(h.wantedNodes, 0)
		s := &q.scoreLists[g]
		s.reset()
		if q.hasOrdinaryNode(g) {
			s.unlistedMax = h.maxScore(int32(h.estimateRange) - 1)
		}
	}
}

func (q *topNodes) hasOrdinaryNode(g int) bool {
	if !q.groupAllowed[g] {
		return false
	}
	for i, places := range q.view.groups.bits[g] {
		if places&q.feasible.bits[i]&^q.specialPositions[i] != 0 {
			return true
		}
	}
	return false
}

func (s *scoreList) reset() {
	s.nodes, s.levelScores, s.levelStarts, s.found, s.unlistedMax = s.nodes[:0], s.levelScores[:0], s.levelStarts[:0], s.found[:0], noScore
}

// maxScore returns the largest fixed score that a node with this estimate can have.
func (h *topScores) maxScore(mark int32) int32 { return max(mark-h.minLoss, 0)>>1 + h.maxBalanced }

// computeBounds computes bounds of fixed scores from estimates. The pod lowers each free share by
// minLoss or more: its share of the largest node, rounded down. If scores assume larger requests
// than the pod has, only one of the two resources is certain to shrink. estimateSlack covers the
// extra loss on the smallest node and the spread of BalancedAllocation around its mean.
func (q *topNodes) computeBounds() {
	h, weights, as := &q.topScores, &q.replacement.Profile.Weights, &q.replacement.ScoredRequests
	cpu, memory := scheduler.MaxScore*as.MilliCPU/q.mostMilliCPU, scheduler.MaxScore*as.MemoryBytes/q.mostBytes
	if h.minLoss = int32(cpu + memory); q.hasAssumedRequests || as.MilliCPU > q.replacement.Requests.MilliCPU || as.MemoryBytes > q.replacement.Requests.MemoryBytes {
		h.minLoss = int32(min(cpu, memory))
	}
	h.freeFactor, h.imageFactor = int32(weights.ResourcesFit), 0
	h.minLoss *= h.freeFactor
	h.maxBalanced = q.maxBalancedScore()
	taken := min(scheduler.MaxScore, scheduler.MaxScore*as.MilliCPU/q.leastMilliCPU) + min(scheduler.MaxScore, scheduler.MaxScore*as.MemoryBytes/q.leastBytes) + 2
	h.estimateSlack = max(int(h.freeFactor)*int(taken)-int(h.minLoss), 0) + 4*max(int(h.maxBalanced)-int(weights.BalancedAllocation)*q.typicalBalanced(), 0) + 2
	h.estimateRange = q.maxFreePercent()*int(h.freeFactor) + 1
	if q.replacement.StaticScores.Images != nil {
		h.imageFactor = int32(2 * weights.ImageLocality)
		h.estimateRange += int(h.imageFactor) * scheduler.MaxScore
	}
}

// listMoreNodes extends the score list of a group, in O(nodes of the group) time plus one score for
// each added node.
func (q *topNodes) listMoreNodes(g int) {
	h, s := &q.topScores, &q.scoreLists[g]
	if h.wantedNodes[g] == 0 {
		h.minEstimate[g] = int32(h.estimateRange)
		h.wantedNodes[g] = (1 + initialWindows*q.feasible.count/q.sampleSize) / quotaFactor
	}
	h.wantedNodes[g] = (h.wantedNodes[g] + 1) * quotaFactor
	if q.replacement.StaticScores.Images == nil {
		q.listByFreePercent(g)
	} else {
		q.listByEstimate(g)
	}
	q.scoreFixed(s.foundScores)
	s.sortLevels(&h.countByEstimate)
}

// lowerMinEstimate lowers the smallest listed estimate until the list has the wanted number of
// nodes.
func (h *topScores) lowerMinEstimate(g int, s *scoreList, reached int32) {
	if h.minEstimate[g] = min(reached-int32(h.estimateSlack), h.minEstimate[g]-1); h.minEstimate[g] <= 0 {
		h.minEstimate[g], s.unlistedMax = 0, noScore
	} else {
		s.unlistedMax = h.maxScore(h.minEstimate[g] - 1)
	}
}

// listByFreePercent is listByEstimate without image scores. Without image scores, the estimate
// depends only on the free percent, so bit sets find the nodes.
func (q *topNodes) listByFreePercent(g int) {
	h, f, s, wanted, base := &q.topScores, &q.feasible, &q.scoreLists[g], q.topScores.wantedNodes[g], q.maxFreePercent()
	mine := append(h.groupPositions[:0], q.view.groups.bits[g]...)
	picked := append(h.pickedPositions[:0], mine...)
	clear(picked)
	h.groupPositions, h.pickedPositions = mine, picked
	for i := range mine {
		mine[i] &= f.bits[i] &^ q.specialPositions[i]
	}
	for ; base > 0; base-- {
		if q.countByFree[base] == 0 {
			continue
		}
		for i, word := range q.positionsByFree[base] {
			wanted -= bits.OnesCount64(word & mine[i])
		}
		if wanted <= 0 {
			break
		}
	}
	h.lowerMinEstimate(g, s, int32(base)*h.freeFactor)
	for b := q.maxFreePercent(); b >= 0 && int32(b)*h.freeFactor >= h.minEstimate[g]; b-- {
		if q.countByFree[b] == 0 {
			continue
		}
		for i, word := range q.positionsByFree[b] {
			picked[i] |= word
		}
	}
	s.found, s.foundScores = s.found[:0], s.foundScores[:0]
	for i, word := range picked {
		fits, low := f.bits[i], int32(i<<6)
		for left := word & mine[i]; left != 0; left &= left - 1 {
			s.found = append(s.found, f.countBefore[i]+int32(bits.OnesCount64(fits&(left&-left-1))))
			s.foundScores = append(s.foundScores, low+int32(bits.TrailingZeros64(left)))
		}
	}
}

// listByEstimate finds the ordinary feasible nodes of a group in node order, and counts them by
// estimate.
func (q *topNodes) listByEstimate(g int) {
	h, f, images := &q.topScores, &q.feasible, q.replacement.StaticScores.Images
	h.entries, h.countByEstimate = h.entries[:0], cycle.ResizeZeroed(h.countByEstimate, h.estimateRange)
	for i, places := range q.view.groups.bits[g] {
		fits := f.bits[i]
		for left := places & fits &^ q.specialPositions[i]; left != 0; left &= left - 1 {
			bit := left & -left
			place := i<<6 + bits.TrailingZeros64(left)
			mark := int32(q.freePercent[place])*h.freeFactor + h.imageFactor*int32(images[q.model.NodeOrder[place]])
			h.countByEstimate[mark]++
			number := int(f.countBefore[i]) + bits.OnesCount64(fits&(bit-1))
			h.entries = append(h.entries, uint64(place)<<40|uint64(number)<<16|uint64(mark))
		}
	}
	s := &q.scoreLists[g]
	h.lowerMinEstimate(g, s, h.estimateOfRank(h.wantedNodes[g]))
	s.found, s.foundScores = s.found[:0], s.foundScores[:0]
	floor := uint64(h.minEstimate[g])
	for _, x := range h.entries {
		if x&0xffff >= floor {
			s.found = append(s.found, int32(x>>16&0xffffff))
			s.foundScores = append(s.foundScores, int32(x>>40))
		}
	}
}

// estimateOfRank returns the largest estimate that at least `quota` of the counted nodes reach.
func (h *topScores) estimateOfRank(quota int) int32 {
	for mark := h.estimateRange - 1; mark > 0; mark-- {
		if quota -= int(h.countByEstimate[mark]); quota <= 0 {
			return int32(mark)
		}
	}
	return 0
}

// sortLevels sorts the found nodes into levels of equal score by counting, in O(nodes + range of
// scores) time.
func (s *scoreList) sortLevels(table *[]int32) {
	s.levelScores, s.levelStarts, s.nodes = s.levelScores[:0], s.levelStarts[:0], cycle.ResizeSlice(s.nodes, len(s.found))
	if len(s.found) == 0 {
		s.levelStarts = append(s.levelStarts, 0)
		return
	}
	least, most := s.foundScores[0], s.foundScores[0]
	for _, v := range s.foundScores {
		least, most = min(least, v), max(most, v)
	}
	count := cycle.ResizeZeroed(*table, int(most-least)+1)
	*table = count
	for _, v := range s.foundScores {
		count[most-v]++
	}
	sum := int32(0)
	for i, c := range count {
		if count[i] = sum; c > 0 {
			s.levelScores, s.levelStarts = append(s.levelScores, most-int32(i)), append(s.levelStarts, sum)
		}
		sum += c
	}
	s.levelStarts = append(s.levelStarts, sum)
	for i, v := range s.foundScores {
		slot := &count[most-v]
		s.nodes[*slot] = s.found[i]
		*slot++
	}
}

// maxBalancedScore returns an upper bound of the weighted BalancedAllocation score. If the score is
// the balance of the node, it can reach the maximum. If the score is a gain, the pod changes the
// deviation by at most half of its larger share of cpu or memory, plus less than 1 by rounding.
func (q *topNodes) maxBalancedScore() int32 {
	weight, r := int32(q.replacement.Profile.Weights.BalancedAllocation), &q.replacement.Requests
	if !q.balancedByGain {
		return weight * scheduler.MaxScore
	}
	share := max(float64(max(r.MilliCPU, 0))/float64(q.leastMilliCPU), float64(max(r.MemoryBytes, 0))/float64(q.leastBytes))
	gain := int64(math.Floor(min(share, 1)*scheduler.MaxScore/2+1e-6)) + 1
	return weight * int32(min(score.BalanceGain(gain, 0), scheduler.MaxScore))
}

// typicalBalanced returns a BalancedAllocation score that most nodes reach: a pod that changes little
// gains little, and most nodes use nearly equal shares of cpu and memory.
func (q *topNodes) typicalBalanced() int {
	if q.balancedByGain {
		return scheduler.MaxScore * 3 / 4
	}
	return scheduler.MaxScore * 19 / 20
}

// scoreFixed replaces each position in the list by the fixed score of its node: NodeResourcesFit,
// BalancedAllocation and ImageLocality.
func (q *topNodes) scoreFixed(list []int32) {
	as, r, weights, images := &q.replacement.ScoredRequests, &q.replacement.Requests, &q.replacement.Profile.Weights, q.replacement.StaticScores.Images
	cpu, memory := float64(as.MilliCPU), float64(as.MemoryBytes)
	halfCPU, halfMemory := float64(r.MilliCPU)/2, float64(r.MemoryBytes)/2
	fit, even, byGain := int32(weights.ResourcesFit), weights.BalancedAllocation, q.balancedByGain
	if r.MilliCPU == 0 && r.MemoryBytes == 0 {
		even = 0
	}
	for i, place := range list {
		x := &q.scoring[place]
		sum := (freePercentOf(x.leftMilliCPU-cpu, x.percentPerMilliCPU) + freePercentOf(x.leftBytes-memory, x.percentPerByte)) >> 1 * fit
		if even != 0 {
			v := 100 - math.Abs(x.halfShareDiff+(halfCPU*x.percentPerMilliCPU-halfMemory*x.percentPerByte))
			with := int64(v)
			if part := v - float64(with); part < roundingMargin || part > 1-roundingMargin {
				with = q.computeExactBalance(place)
			}
			if byGain {
				with = score.BalanceGain(with, x.balance)
			}
			sum += int32(even * with)
		}
		if images != nil {
			sum += int32(weights.ImageLocality) * int32(images[q.model.NodeOrder[place]])
		}
		list[i] = sum
	}
}

// If a float result is within roundingMargin of a whole number, the balance is computed by exact
// division. The float error is about 10,000 times smaller. A feasible node has the requested
// resources free, so a share exceeds 1 only if the pod does not change it.
const roundingMargin = 1e-9

// computeExactBalance returns score.Balance of the node including the new pod.
func (q *topNodes) computeExactBalance(place int32) int64 {
	l, r := &q.model.Requests[q.model.NodeOrder[place]], &q.replacement.Requests
	return score.Balance(l.MilliCPU+r.MilliCPU, l.AllocatableMilliCPU, l.MemoryBytes+r.MemoryBytes, l.AllocatableBytes)
}
