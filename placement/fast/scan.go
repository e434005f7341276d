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

// free is what the filter compares: allocatable less the requests.
type free struct{ milliCPU, bytes int64 }

// numbers are what scores read of a node: allocatable less the
// nonZero sums, whole numbers below 2^53, and 100 / allocatable; half the difference
// of the requested shares of cpu and memory, in percent, and the balance as it stands.
type numbers struct {
	leftMilliCPU, leftBytes, perMilliCPU, perByte float64
	lean                                          float64
	balance                                       int64
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

// noRoom is free where a pod has no room, and unasked what is asked where nothing is
// requested: more than any other is free.
const (
	noRoom  = -1 << 62
	unasked = -1 << 61
)

func NewPredictor(w *model.Cluster, groups *GroupCache) *Predictor {
	n := len(w.Snap.Nodes)
	q := &Predictor{m: w, buf: &cycle.Scratch{}, groups: groups, numbers: make([]numbers, n), free: make([]free, n), base: make([]uint8, n), ample: make([]uint64, (n+63)/64), usable: true, leastMilliCPU: maxAllocatable, leastBytes: maxAllocatable, odds: make([]float64, n), won: make([]uint64, (n+63)/64), marked: make([]uint64, (n+63)/64)}
	q.field = field{at: make([]int32, 2*n), fits: make([]uint64, (n+63)/64), before: make([]int32, (n+63)/64)}
	q.bases[0], q.based = int32(n), make([][]uint64, 2*scheduler.MaxScore+1)
	all := make([]uint64, len(q.based)*len(q.won))
	for base := range q.based {
		q.based[base] = all[base*len(q.won) : (base+1)*len(q.won)]
	}
	for place := range n {
		q.based[0][place>>6] |= 1 << (place & 63)
	}
	w.InitNodeOrder()
	q.place = w.NodePosition
	for _, n := range w.NodeOrder {
		l := &w.Requests[n]
		q.usable = q.usable && l.AllocatableMilliCPU > 0 && l.AllocatableMilliCPU <= maxAllocatable && l.AllocatableBytes > 0 && l.AllocatableBytes <= maxAllocatable
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
	place := q.place[n]
	l, x, has := &q.m.Requests[n], &q.numbers[place], &q.free[place]
	x.leftMilliCPU, x.leftBytes = float64(l.AllocatableMilliCPU-l.NonZeroMilliCPU), float64(l.AllocatableBytes-l.NonZeroBytes)
	x.perMilliCPU, x.perByte = 100/float64(l.AllocatableMilliCPU), 100/float64(l.AllocatableBytes)
	*has = free{max(l.AllocatableMilliCPU-l.MilliCPU, unasked/2), max(l.AllocatableBytes-l.MemoryBytes, unasked/2)}
	if l.Pods+1 > q.m.Snap.Nodes[n].AllowedPods {
		has.milliCPU = noRoom
	}
	q.assumes = q.assumes || l.MilliCPU != l.NonZeroMilliCPU || l.MemoryBytes != l.NonZeroBytes
	base := uint8(freePart(x.leftMilliCPU, x.perMilliCPU) + freePart(x.leftBytes, x.perByte))
	bit := uint64(1) << (place & 63)
	if was := q.base[place]; was != base {
		q.bases[was]--
		q.bases[base]++
		q.based[was][place>>6] &^= bit
		q.based[base][place>>6] |= bit
		q.base[place], q.top = base, max(q.top, int(base))
	}
	x.lean = 50 * (min(float64(l.MilliCPU)/float64(l.AllocatableMilliCPU), 1) - min(float64(l.MemoryBytes)/float64(l.AllocatableBytes), 1))
	x.balance = score.Balance(l.MilliCPU, l.AllocatableMilliCPU, l.MemoryBytes, l.AllocatableBytes)
	if q.ample[place>>6] &^= bit; has.milliCPU >= q.mostMilliCPU/amplePart && has.bytes >= q.mostBytes/amplePart {
		q.ample[place>>6] |= bit
	}
}

// amplePart of the largest node is what most pods ask for at most; nodes that have so
// much are not compared with what they ask for one by one.
const amplePart = 16

func askInt(v int64) int64 {
	if v <= 0 {
		return unasked
	}
	return min(v, -unasked)
}

// fitsAt reports whether the node at a place has what the newcomer asks for.
func (q *Predictor) fitsAt(place int32) bool {
	x := &q.free[place]
	return x.milliCPU >= askInt(q.in.CheckedRequests.MilliCPU) && x.bytes >= askInt(q.in.CheckedRequests.MemoryBytes)
}

// freePart is freeShare for what would be left.
func freePart(left, per float64) int32 {
	if left < 0 {
		return 0
	}
	return int32(left*per + roundUp)
}

// score puts, for each of the feasible places in the list, what it scores apart from
// the relative scores in its stead: NodeResourcesFit (leastAllocated), BalancedAllocation (evenScore) and
// images.
func (q *Predictor) score(list []int32) {
	as, r, weights, images := &q.in.ScoredRequests, &q.in.Requests, &q.in.Profile.Weights, q.in.StaticScores.Images
	cpu, memory := float64(as.MilliCPU), float64(as.MemoryBytes)
	halfCPU, halfMemory := float64(r.MilliCPU)/2, float64(r.MemoryBytes)/2
	fit, even := int32(weights.ResourcesFit), weights.BalancedAllocation
	if r.MilliCPU == 0 && r.MemoryBytes == 0 {
		even = 0
	}
	for i, place := range list {
		x := &q.numbers[place]
		sum := (freePart(x.leftMilliCPU-cpu, x.perMilliCPU) + freePart(x.leftBytes-memory, x.perByte)) >> 1 * fit
		if even != 0 {
			v := 100 - math.Abs(x.lean+(halfCPU*x.perMilliCPU-halfMemory*x.perByte))
			with := int64(v)
			if part := v - float64(with); part < unclear || part > 1-unclear {
				with = q.balanceWith(place)
			}
			sum += int32(even * score.IsBalanced(with, x.balance))
		}
		if images != nil {
			sum += int32(weights.ImageLocality) * int32(images[q.m.NodeOrder[place]])
		}
		list[i] = sum
	}
}

// unclear is how near to a whole number a balance is divided out: some ten thousand
// times as much as the products with reciprocals are off by. A feasible node has what
// is requested, so that no share is above 1 but one that stays as it is.
const unclear = 1e-9

// balanceWith is the node's balance with the newcomer.
func (q *Predictor) balanceWith(place int32) int64 {
	l, r := &q.m.Requests[q.m.NodeOrder[place]], &q.in.Requests
	return score.Balance(l.MilliCPU+r.MilliCPU, l.AllocatableMilliCPU, l.MemoryBytes+r.MemoryBytes, l.AllocatableBytes)
}

// scan finds the feasible nodes.
func (q *Predictor) scan() {
	f, count := &q.field, 0
	milliCPU, bytes := askInt(q.in.CheckedRequests.MilliCPU), askInt(q.in.CheckedRequests.MemoryBytes)
	open := q.openPlaces()
	for _, n := range q.barred() {
		place := q.place[n]
		open[place>>6] &^= 1 << (place & 63)
	}
	modest := milliCPU <= q.mostMilliCPU/amplePart && bytes <= q.mostBytes/amplePart
	for block := range f.fits {
		low, word := block<<6, uint64(0)
		if modest {
			word = q.ample[block] & open[block]
		}
		for left := open[block] &^ word; left != 0; left &= left - 1 {
			x := &q.free[low+bits.TrailingZeros64(left)] // no branches: which nodes are full follows no pattern
			word |= left & -left &^ uint64(((x.milliCPU-milliCPU)|(x.bytes-bytes))>>63)
		}
		f.fits[block], f.before[block] = word, int32(count)
		at := f.at[count:]
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

// openPlaces are the places of the groups that are allowed, as bits.
func (q *Predictor) openPlaces() []uint64 {
	land := q.sight.land
	q.open = append(q.open[:0], land.all...)
	for g := range land.nodes {
		if q.allowed[g] {
			continue
		}
		for i, places := range land.bits[g] {
			q.open[i] &^= places
		}
	}
	return q.open
}

// extend lets the first nodes of a window come again after the last.
func (q *Predictor) extend() {
	f, n := &q.field, int32(len(q.place))
	for i, place := range f.at[:q.size] {
		f.at[f.count+i] = place + n
	}
}

// find returns where among the feasible nodes a place is, or would be.
func (f *field) find(place int32) (at int, found bool) {
	low, high := 0, f.count
	for low < high {
		mid := int(uint(low+high) >> 1)
		if f.at[mid] < place {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < f.count && f.at[low] == place
}
