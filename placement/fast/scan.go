package fast

import (
	"math"
	"math/bits"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// freeResources is what the filter compares: allocatable less the requests.
type freeResources struct{ milliCPU, bytes int64 }

// scoringData are what scores read of a node: allocatable less the
// nonZero sums, whole numbers below 2^53, and 100 / allocatable; half the difference
// of the requested shares of cpu and memory, in percent, and the balance as it stands.
type scoringData struct {
	leftMilliCPU, leftBytes, percentPerMilliCPU, percentPerByte float64
	halfShareDiff                                               float64
	balance                                                     int64
}

// Of a share v = 100 left / allocatable, left x perUnit is off by at most 2 x 2^-53
// of its value, and the sum with roundUp by another half of 2^-46: less than 3 x
// 10^-14 for v <= 100. roundUp is 5.7 x 10^-14, so the result is never below v, and
// above it by less than 9 x 10^-14, while v is at least 1 / allocatable = 1.1 x 10^-13
// below the next whole number if it is not one. So rounding down gives the same as
// the division of whole numbers.
const (
	roundUp        = 1.0 / (1 << 44)
	maxAllocatable = 1 << 43
)

// noPodSlot is free where a pod has no room, and unasked what is asked where nothing is
// requested: more than any other is free.
const (
	noPodSlot = -1 << 62
	noRequest = -1 << 61
)

func NewPredictor(w *model.Cluster, groups *GroupCache) *Predictor {
	n := len(w.Snap.Nodes)
	q := &Predictor{model: w, scratch: &cycle.Scratch{}, groups: groups, scoring: make([]scoringData, n), free: make([]freeResources, n), freePercent: make([]uint8, n), amplePositions: make([]uint64, (n+63)/64), exact: true, leastMilliCPU: maxAllocatable, leastBytes: maxAllocatable, oddsByNode: make([]float64, n), nodesWithOdds: make([]uint64, (n+63)/64), specialPositions: make([]uint64, (n+63)/64)}
	q.feasible = feasibleNodes{positions: make([]int32, 2*n), bits: make([]uint64, (n+63)/64), countBefore: make([]int32, (n+63)/64)}
	q.countByFree[0], q.positionsByFree = int32(n), make([][]uint64, 2*scheduler.MaxScore+1)
	all := make([]uint64, len(q.positionsByFree)*len(q.nodesWithOdds))
	for base := range q.positionsByFree {
		q.positionsByFree[base] = all[base*len(q.nodesWithOdds) : (base+1)*len(q.nodesWithOdds)]
	}
	for place := range n {
		q.positionsByFree[0][place>>6] |= 1 << (place & 63)
	}
	w.InitNodeOrder()
	q.position = w.NodePosition
	for _, n := range w.NodeOrder {
		l := &w.Requests[n]
		q.exact = q.exact && l.AllocatableMilliCPU > 0 && l.AllocatableMilliCPU <= maxAllocatable && l.AllocatableBytes > 0 && l.AllocatableBytes <= maxAllocatable
		q.mostMilliCPU, q.mostBytes = max(q.mostMilliCPU, l.AllocatableMilliCPU), max(q.mostBytes, l.AllocatableBytes)
		q.leastMilliCPU, q.leastBytes = min(q.leastMilliCPU, l.AllocatableMilliCPU), min(q.leastBytes, l.AllocatableBytes)
	}
	for _, n := range w.NodeOrder {
		q.NodeChanged(n)
	}
	return q
}

// NodeChanged reads a node's numbers anew.
func (q *Predictor) NodeChanged(n cluster.NodeID) {
	place := q.position[n]
	l, x, has := &q.model.Requests[n], &q.scoring[place], &q.free[place]
	x.leftMilliCPU, x.leftBytes = float64(l.AllocatableMilliCPU-l.NonZeroMilliCPU), float64(l.AllocatableBytes-l.NonZeroBytes)
	x.percentPerMilliCPU, x.percentPerByte = 100/float64(l.AllocatableMilliCPU), 100/float64(l.AllocatableBytes)
	*has = freeResources{max(l.AllocatableMilliCPU-l.MilliCPU, noRequest/2), max(l.AllocatableBytes-l.MemoryBytes, noRequest/2)}
	if l.Pods+1 > q.model.Snap.Nodes[n].AllowedPods {
		has.milliCPU = noPodSlot
	}
	q.hasAssumedRequests = q.hasAssumedRequests || l.MilliCPU != l.NonZeroMilliCPU || l.MemoryBytes != l.NonZeroBytes
	base := uint8(freePercentOf(x.leftMilliCPU, x.percentPerMilliCPU) + freePercentOf(x.leftBytes, x.percentPerByte))
	bit := uint64(1) << (place & 63)
	if was := q.freePercent[place]; was != base {
		q.countByFree[was]--
		q.countByFree[base]++
		q.positionsByFree[was][place>>6] &^= bit
		q.positionsByFree[base][place>>6] |= bit
		q.freePercent[place], q.maxFreeBound = base, max(q.maxFreeBound, int(base))
	}
	x.halfShareDiff = 50 * (min(float64(l.MilliCPU)/float64(l.AllocatableMilliCPU), 1) - min(float64(l.MemoryBytes)/float64(l.AllocatableBytes), 1))
	x.balance = score.Balance(l.MilliCPU, l.AllocatableMilliCPU, l.MemoryBytes, l.AllocatableBytes)
	if q.amplePositions[place>>6] &^= bit; has.milliCPU >= q.mostMilliCPU/ampleFraction && has.bytes >= q.mostBytes/ampleFraction {
		q.amplePositions[place>>6] |= bit
	}
}

// ampleFraction of the largest node is what most pods ask for at most; nodes that have so
// much are not compared with what they ask for one by one.
const ampleFraction = 16

func requestThreshold(v int64) int64 {
	if v <= 0 {
		return noRequest
	}
	return min(v, -noRequest)
}

// fitsAtPosition reports whether the node at a place has what the newcomer asks for.
func (q *Predictor) fitsAtPosition(place int32) bool {
	x := &q.free[place]
	return x.milliCPU >= requestThreshold(q.replacement.CheckedRequests.MilliCPU) && x.bytes >= requestThreshold(q.replacement.CheckedRequests.MemoryBytes)
}

// freePercentOf is freeShare for what would be left.
func freePercentOf(left, per float64) int32 {
	if left < 0 {
		return 0
	}
	return int32(left*per + roundUp)
}

// scoreFixed puts, for each of the feasible places in the list, what it scores apart from
// the relative scores in its stead: NodeResourcesFit (leastAllocated), BalancedAllocation (evenScore) and
// images.
func (q *Predictor) scoreFixed(list []int32) {
	as, r, weights, images := &q.replacement.ScoredRequests, &q.replacement.Requests, &q.replacement.Profile.Weights, q.replacement.StaticScores.Images
	cpu, memory := float64(as.MilliCPU), float64(as.MemoryBytes)
	halfCPU, halfMemory := float64(r.MilliCPU)/2, float64(r.MemoryBytes)/2
	fit, even := int32(weights.ResourcesFit), weights.BalancedAllocation
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
				with = q.exactBalance(place)
			}
			sum += int32(even * score.BalanceGain(with, x.balance))
		}
		if images != nil {
			sum += int32(weights.ImageLocality) * int32(images[q.model.NodeOrder[place]])
		}
		list[i] = sum
	}
}

// roundingMargin is how near to a whole number a balance is divided out: some ten thousand
// times as much as the products with reciprocals are off by. A feasible node has what
// is requested, so that no share is above 1 but one that stays as it is.
const roundingMargin = 1e-9

// exactBalance is the node's balance with the newcomer.
func (q *Predictor) exactBalance(place int32) int64 {
	l, r := &q.model.Requests[q.model.NodeOrder[place]], &q.replacement.Requests
	return score.Balance(l.MilliCPU+r.MilliCPU, l.AllocatableMilliCPU, l.MemoryBytes+r.MemoryBytes, l.AllocatableBytes)
}

// findFeasible finds the feasible nodes.
func (q *Predictor) findFeasible() {
	f, count := &q.feasible, 0
	milliCPU, bytes := requestThreshold(q.replacement.CheckedRequests.MilliCPU), requestThreshold(q.replacement.CheckedRequests.MemoryBytes)
	open := q.findOpenPositions()
	for _, n := range q.nodesExcludedByPods() {
		place := q.position[n]
		open[place>>6] &^= 1 << (place & 63)
	}
	modest := milliCPU <= q.mostMilliCPU/ampleFraction && bytes <= q.mostBytes/ampleFraction
	for block := range f.bits {
		low, word := block<<6, uint64(0)
		if modest {
			word = q.amplePositions[block] & open[block]
		}
		for left := open[block] &^ word; left != 0; left &= left - 1 {
			x := &q.free[low+bits.TrailingZeros64(left)] // no branches: which nodes are full follows no pattern
			word |= left & -left &^ uint64(((x.milliCPU-milliCPU)|(x.bytes-bytes))>>63)
		}
		f.bits[block], f.countBefore[block] = word, int32(count)
		at := f.positions[count:]
		count += bits.OnesCount64(word)
		if word == math.MaxUint64 {
			at = at[:64]
			for k := range at {
				at[k] = int32(low + k)
			}
			continue
		}
		for k := 0; word != 0; k++ {
			at[k] = int32(low + bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
	f.count = count
}

// findOpenPositions are the places of the groups that are allowed, as bits.
func (q *Predictor) findOpenPositions() []uint64 {
	land := q.view.groups
	q.openPositions = append(q.openPositions[:0], land.all...)
	for g := range land.nodes {
		if q.groupAllowed[g] {
			continue
		}
		for i, places := range land.bits[g] {
			q.openPositions[i] &^= places
		}
	}
	return q.openPositions
}

// wrapFeasible lets the first nodes of a window come again after the last.
func (q *Predictor) wrapFeasible() {
	f, n := &q.feasible, int32(len(q.position))
	for i, place := range f.positions[:q.sampleSize] {
		f.positions[f.count+i] = place + n
	}
}

// indexOf returns where among the feasible nodes a place is, or would be.
func (f *feasibleNodes) indexOf(place int32) (at int, found bool) {
	low, high := 0, f.count
	for low < high {
		mid := int(uint(low+high) >> 1)
		if f.positions[mid] < place {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < f.count && f.positions[low] == place
}
