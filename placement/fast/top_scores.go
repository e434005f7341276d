package fast

import (
	"math"
	"math/bits"
	"slices"

	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// topNodes lists the best feasible nodes of each score group by fixed score: the part of the score
// that no other node changes. It decides how many nodes of each group are scored: computing a score
// costs more than an estimate, and only the best nodes matter.
//
// The estimate of a node is twice its weighted score for free resources and images. The requests of
// the new pod are not included. The estimate of a node gives an upper bound of its score.
type topNodes struct {
	*parts
	lists []scoreList // by score group

	minLoss       int32 // the pod lowers every estimate by at least this
	maxBalanced   int64 // upper bound of the weighted BalancedAllocation score
	estimateSlack int   // estimates may differ by this if scores are equal
	estimateRange int   // every estimate is below it

	freeFactor, imageFactor         int32    // weights of free percent and image score in an estimate
	countByEstimate                 []int32  // number of nodes by estimate
	sortScratch                     []int32  // scratch of sortLevels
	groupPositions, pickedPositions []uint64 // bit sets: positions of the score group, and of the nodes to list
}

// scoreList lists feasible nodes of one score group by falling fixed score. A score list starts
// with the best nodes; listMoreNodes extends the list.
type scoreList struct {
	nodes       []int32 // indexes of feasible nodes; by level, then in node order
	levelScores []int64 // by level, falling
	levelStarts []int32 // by level: its start in nodes; then the end
	unlistedMax int64   // upper bound of the unlisted scores; noScore: all nodes are listed
	wanted      int     // number of nodes to list; 0: none listed yet
	minEstimate int32   // smallest estimate that is listed

	found       []int32 // input of sortLevels: feasible indexes, rising
	foundScores []int64 // input of sortLevels: their scores; before, their positions
}

const noScore = math.MinInt32

// At first listMoreNodes lists as many nodes as initialWindows windows contain. Each further call
// multiplies the number by quotaFactor.
const (
	initialWindows = 10
	quotaFactor    = 4
)

func (h *topNodes) reset() {
	h.computeBounds()
	for k := range h.scores.ordinary {
		h.lists[k].reset()
	}
	for g, k := range h.scores.groupOf {
		if s := &h.lists[k]; s.unlistedMax == noScore && h.special.hasOrdinary(g) {
			s.unlistedMax = h.maxScore(int32(h.estimateRange) - 1)
		}
	}
}

func (s *scoreList) reset() {
	*s = scoreList{nodes: s.nodes[:0], levelScores: s.levelScores[:0], levelStarts: s.levelStarts[:0],
		found: s.found[:0], foundScores: s.foundScores[:0], unlistedMax: noScore}
}

// maxScore returns the largest fixed score that a node with this estimate can have.
func (h *topNodes) maxScore(mark int32) int64 {
	return int64(max(mark-h.minLoss, 0)>>1) + h.maxBalanced
}

// computeBounds computes bounds of fixed scores from estimates. The pod lowers each free share by
// minLoss or more: its share of the largest node, rounded down. If scores assume larger requests
// than the pod has, only one of the two resources is certain to shrink. estimateSlack covers the
// extra loss on the smallest node and the spread of BalancedAllocation around its mean. Without
// estimates, the estimate of every node is 0, so all nodes are listed together.
func (h *topNodes) computeBounds() {
	h.freeFactor, h.imageFactor, h.minLoss, h.maxBalanced, h.estimateSlack, h.estimateRange = 0, 0, 0, math.MaxInt64/2, 0, 1
	if !h.pod.view.estimates {
		return
	}
	weights, as := &h.pod.replacement.Profile.Weights, &h.pod.replacement.ScoredRequests
	cpu, memory := scheduler.MaxScore*as.MilliCPU/h.nodes.mostMilliCPU, scheduler.MaxScore*as.MemoryBytes/h.nodes.mostBytes
	if h.minLoss = int32(cpu + memory); h.nodes.hasAssumedRequests || as.MilliCPU > h.pod.replacement.Requests.MilliCPU || as.MemoryBytes > h.pod.replacement.Requests.MemoryBytes {
		h.minLoss = int32(min(cpu, memory))
	}
	h.freeFactor = int32(weights.ResourcesFit)
	h.minLoss *= h.freeFactor
	h.maxBalanced = h.maxBalancedScore()
	typical := int64(scheduler.MaxScore * 19 / 20) // most nodes use nearly equal shares of cpu and memory
	if h.nodes.balancedByGain {
		typical = scheduler.MaxScore * 3 / 4 // a pod that changes little gains little
	}
	taken := min(scheduler.MaxScore, scheduler.MaxScore*as.MilliCPU/h.nodes.leastMilliCPU) + min(scheduler.MaxScore, scheduler.MaxScore*as.MemoryBytes/h.nodes.leastBytes) + 2
	h.estimateSlack = max(int(h.freeFactor)*int(taken)-int(h.minLoss), 0) + 4*max(int(h.maxBalanced-weights.BalancedAllocation*typical), 0) + 2
	h.estimateRange = h.nodes.maxFreePercent()*int(h.freeFactor) + 1
	if h.pod.replacement.StaticScores.Images != nil {
		h.imageFactor = int32(2 * weights.ImageLocality)
		h.estimateRange += int(h.imageFactor) * scheduler.MaxScore
	}
}

// listMoreNodes extends the score list of a group, in O(nodes of the group) time plus one score for
// each added node.
func (h *topNodes) listMoreNodes(k int) {
	f, s := &h.feasible, &h.lists[k]
	s.found, s.foundScores = s.found[:0], s.foundScores[:0]
	if s.wanted == 0 {
		s.minEstimate = int32(h.estimateRange)
		s.wanted = (1 + initialWindows*f.count/h.pod.sampleSize) / quotaFactor
	}
	s.wanted = (s.wanted + 1) * quotaFactor
	h.findOrdinaryNodes(int32(k))
	h.pickedPositions = cycle.ResizeZeroed(h.pickedPositions, len(f.bits))
	if h.imageFactor == 0 {
		h.pickByFreePercent(s)
	} else {
		h.pickByEstimate(s)
	}
	for i, word := range h.pickedPositions {
		fits, low := f.bits[i], int64(i<<6)
		for left := word & h.groupPositions[i]; left != 0; left &= left - 1 {
			s.found = append(s.found, f.countBefore[i]+int32(bits.OnesCount64(fits&(left&-left-1))))
			s.foundScores = append(s.foundScores, low+int64(bits.TrailingZeros64(left)))
		}
	}
	h.scoreFixed(s.foundScores)
	s.sortLevels(&h.sortScratch)
}

// findOrdinaryNodes stores the positions of the feasible nodes of a score group that are not special.
func (h *topNodes) findOrdinaryNodes(k int32) {
	h.groupPositions = cycle.ResizeZeroed(h.groupPositions, len(h.feasible.bits))
	for g, of := range h.scores.groupOf {
		for i := 0; of == k && i < len(h.pod.view.groups.bits[g]); i++ {
			word, at := h.special.ordinaryOf(g, i)
			h.groupPositions[at] |= word
		}
	}
}

// lowerMinEstimate lowers the smallest listed estimate until the list has the wanted number of
// nodes, which reach this estimate.
func (h *topNodes) lowerMinEstimate(s *scoreList, reached int32) {
	if s.minEstimate = min(reached-int32(h.estimateSlack), s.minEstimate-1); s.minEstimate <= 0 {
		s.minEstimate, s.unlistedMax = 0, noScore
	} else {
		s.unlistedMax = h.maxScore(s.minEstimate - 1)
	}
}

// pickByFreePercent is pickByEstimate without image scores. Without image scores, the estimate
// depends only on the free percent, so bit sets find the nodes. It also picks nodes of other groups.
func (h *topNodes) pickByFreePercent(s *scoreList) {
	wanted, base := s.wanted, h.nodes.maxFreePercent()
	for ; base > 0; base-- {
		if h.nodes.countByFree[base] == 0 {
			continue
		}
		for i, word := range h.nodes.positionsByFree[base] {
			wanted -= bits.OnesCount64(word & h.groupPositions[i])
		}
		if wanted <= 0 {
			break
		}
	}
	h.lowerMinEstimate(s, int32(base)*h.freeFactor)
	for b := h.nodes.maxFreePercent(); b >= 0 && int32(b)*h.freeFactor >= s.minEstimate; b-- {
		if h.nodes.countByFree[b] == 0 {
			continue
		}
		for i, word := range h.nodes.positionsByFree[b] {
			h.pickedPositions[i] |= word
		}
	}
}

// pickByEstimate picks the nodes of the group with the largest estimates.
func (h *topNodes) pickByEstimate(s *scoreList) {
	images, order := h.pod.replacement.StaticScores.Images, h.nodes.model.NodeOrder
	estimate := func(place int) int32 {
		return int32(h.nodes.freePercent[place])*h.freeFactor + h.imageFactor*int32(images[order[place]])
	}
	h.countByEstimate = cycle.ResizeZeroed(h.countByEstimate, h.estimateRange)
	for i, left := range h.groupPositions {
		for ; left != 0; left &= left - 1 {
			h.countByEstimate[estimate(i<<6+bits.TrailingZeros64(left))]++
		}
	}
	wanted, reached := s.wanted, int32(h.estimateRange)-1
	for ; reached > 0; reached-- {
		if wanted -= int(h.countByEstimate[reached]); wanted <= 0 {
			break
		}
	}
	h.lowerMinEstimate(s, reached)
	for i, left := range h.groupPositions {
		for ; left != 0; left &= left - 1 {
			if estimate(i<<6+bits.TrailingZeros64(left)) >= s.minEstimate {
				h.pickedPositions[i] |= left & -left
			}
		}
	}
}

// maxScoreTable is the largest range of scores that sortLevels counts in a table.
const maxScoreTable = 1 << 16

// sortLevels sorts the found nodes into levels of equal score, in O(nodes + range of scores) time. If the range is
// large, because of very large weights, it counts the nodes by the rank of their scores.
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
	var distinct []int64 // rising; nil: the scores themselves are counted
	if most-least >= maxScoreTable {
		distinct = slices.Compact(slices.Sorted(slices.Values(s.foundScores)))
		for i, v := range s.foundScores {
			rank, _ := slices.BinarySearch(distinct, v)
			s.foundScores[i] = int64(rank)
		}
		least, most = 0, int64(len(distinct)-1)
	}
	count := cycle.ResizeZeroed(*table, int(most-least)+1)
	*table = count
	for _, v := range s.foundScores {
		count[most-v]++
	}
	sum := int32(0)
	for i, c := range count {
		if count[i] = sum; c > 0 {
			s.levelScores, s.levelStarts = append(s.levelScores, most-int64(i)), append(s.levelStarts, sum)
		}
		sum += c
	}
	s.levelStarts = append(s.levelStarts, sum)
	for i, v := range s.foundScores {
		slot := &count[most-v]
		s.nodes[*slot] = s.found[i]
		*slot++
	}
	for i := range distinct {
		s.levelScores[len(distinct)-1-i] = distinct[i]
	}
}

// maxBalancedScore returns an upper bound of the weighted BalancedAllocation score. If the score is
// the balance of the node, it can reach the maximum. If the score is a gain, the pod changes the
// deviation by at most half of its larger share of cpu or memory, plus less than 1 by rounding.
func (h *topNodes) maxBalancedScore() int64 {
	weight, r := h.pod.replacement.Profile.Weights.BalancedAllocation, &h.pod.replacement.Requests
	if !h.nodes.balancedByGain {
		return weight * scheduler.MaxScore
	}
	share := max(float64(max(r.MilliCPU, 0))/float64(h.nodes.leastMilliCPU), float64(max(r.MemoryBytes, 0))/float64(h.nodes.leastBytes))
	gain := int64(math.Floor(min(share, 1)*scheduler.MaxScore/2+1e-6)) + 1
	return weight * min(score.BalanceGain(gain, 0), scheduler.MaxScore)
}

// scoreFixed replaces each position in the list by the fixed score of its node.
func (h *topNodes) scoreFixed(list []int64) {
	in := h.pod.replacement
	if h.pod.view.estimates {
		h.nodes.scoreDefault(in, list)
		return
	}
	for i, place := range list {
		list[i] = 0
		for k := range h.pod.view.plugins {
			if s := &h.pod.view.plugins[k]; s.NodeScore != nil {
				list[i] += s.Weight * s.NodeScore(h.nodes.model, in, h.nodes.model.NodeOrder[place])
			}
		}
	}
}

// scoreDefault is scoreFixed for the default plugins: NodeResourcesFit, BalancedAllocation and ImageLocality.
func (r *nodeResources) scoreDefault(in *cycle.Replacement, list []int64) {
	as, requested, weights, images := &in.ScoredRequests, &in.Requests, &in.Profile.Weights, in.StaticScores.Images
	cpu, memory := float64(as.MilliCPU), float64(as.MemoryBytes)
	halfCPU, halfMemory := float64(requested.MilliCPU)/2, float64(requested.MemoryBytes)/2
	fit, even, byGain := weights.ResourcesFit, weights.BalancedAllocation, r.balancedByGain
	if requested.MilliCPU == 0 && requested.MemoryBytes == 0 {
		even = 0
	}
	for i, place := range list {
		x := &r.scoring[place]
		sum := int64((freePercentOf(x.leftMilliCPU-cpu, x.percentPerMilliCPU)+freePercentOf(x.leftBytes-memory, x.percentPerByte))>>1) * fit
		if even != 0 {
			v := 100 - math.Abs(x.halfShareDiff+(halfCPU*x.percentPerMilliCPU-halfMemory*x.percentPerByte))
			with := int64(v)
			if part := v - float64(with); part < roundingMargin || part > 1-roundingMargin {
				l := &r.model.Requests[r.model.NodeOrder[place]]
				cpu, memory := l.MilliCPU+requested.MilliCPU, l.MemoryBytes+requested.MemoryBytes
				with = score.Balance(cpu, l.AllocatableMilliCPU, memory, l.AllocatableBytes)
			}
			if byGain {
				with = score.BalanceGain(with, x.balance)
			}
			sum += even * with
		}
		if images != nil {
			sum += weights.ImageLocality * int64(images[r.model.NodeOrder[place]])
		}
		list[i] = sum
	}
}

// If a float result is within roundingMargin of a whole number, the balance is computed by exact
// division. The float error is about 10,000 times smaller. A feasible node has the requested
// resources free, so a share exceeds 1 only if the pod does not change it.
const roundingMargin = 1e-9

// listSpecialNodes lists the special nodes of their score groups.
func (h *topNodes) listSpecialNodes() {
	special := h.lists[h.scores.ordinary:len(h.scores.groups)]
	for k := range special {
		special[k].reset()
	}
	for i := range h.special.list {
		if x := &h.special.list[i]; x.feasible {
			s := &h.lists[x.scoreGroup]
			s.found, s.foundScores = append(s.found, x.feasibleIndex), append(s.foundScores, x.fixedScore)
		}
	}
	for k := range special {
		special[k].sortLevels(&h.sortScratch)
	}
}

// renumber adds `by` to the feasible indexes of ordinary nodes from `from` on.
func (h *topNodes) renumber(from, by int32) {
	for k := range h.scores.ordinary {
		list := h.lists[k].nodes
		for i, at := range list {
			if at >= from {
				list[i] = at + by
			}
		}
	}
}
