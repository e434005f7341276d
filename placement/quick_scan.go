package placement

import (
	"math/bits"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// free is what the filter compares: allocatable less the requests.
type free struct{ milliCPU, bytes int64 }

// numbers are what the score of free resources reads of a node: allocatable less the
// nonZero sums, whole numbers below 2^53, and 100 / allocatable.
type numbers struct{ leftMilliCPU, leftBytes, perMilliCPU, perByte float64 }

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

// quickOf returns the world's quick, building it on first use.
func (w *World) quickOf() *quick {
	if w.quick != nil {
		return w.quick
	}
	n := len(w.snap.Nodes)
	q := &quick{w: w, place: make([]int32, n), numbers: make([]numbers, n), free: make([]free, n), base: make([]uint16, n), before: make([]int8, n), usable: true, leastMilliCPU: maxAllocatable, leastBytes: maxAllocatable, odds: make([]float64, n), won: make([]uint64, (n+63)/64), marked: make([]uint64, (n+63)/64)}
	w.quick = q
	q.field = field{at: make([]int32, 2*n), fits: make([]uint64, (n+63)/64)}
	for place, n := range w.walked() {
		q.place[n] = int32(place)
		l := &w.load[n]
		q.usable = q.usable && l.allocatableMilliCPU > 0 && l.allocatableMilliCPU <= maxAllocatable && l.allocatableBytes > 0 && l.allocatableBytes <= maxAllocatable
		q.mostMilliCPU, q.mostBytes = max(q.mostMilliCPU, l.allocatableMilliCPU), max(q.mostBytes, l.allocatableBytes)
		q.leastMilliCPU, q.leastBytes = min(q.leastMilliCPU, l.allocatableMilliCPU), min(q.leastBytes, l.allocatableBytes)
		q.look(n)
	}
	return q
}

// look reads a node's numbers anew.
func (q *quick) look(n cluster.NodeID) {
	place := q.place[n]
	l, x, has := &q.w.load[n], &q.numbers[place], &q.free[place]
	x.leftMilliCPU, x.leftBytes = float64(l.allocatableMilliCPU-l.nonZeroMilliCPU), float64(l.allocatableBytes-l.nonZeroBytes)
	x.perMilliCPU, x.perByte = 100/float64(l.allocatableMilliCPU), 100/float64(l.allocatableBytes)
	*has = free{max(l.allocatableMilliCPU-l.milliCPU, unasked/2), max(l.allocatableBytes-l.memory, unasked/2)}
	if l.pods+1 > q.w.snap.Nodes[n].AllowedPods {
		has.milliCPU = noRoom
	}
	q.assumes = q.assumes || l.milliCPU != l.nonZeroMilliCPU || l.memory != l.nonZeroBytes
	q.base[place] = uint16(freePart(x.leftMilliCPU, x.perMilliCPU) + freePart(x.leftBytes, x.perByte))
	q.before[n] = int8(balance(l.milliCPU, l.allocatableMilliCPU, l.memory, l.allocatableBytes))
}

func askInt(v int64) int64 {
	if v <= 0 {
		return unasked
	}
	return min(v, -unasked)
}

// fitsAt reports whether the node at a place has what the newcomer asks for.
func (q *quick) fitsAt(place int32) bool {
	x := &q.free[place]
	return x.milliCPU >= askInt(q.in.asked.MilliCPU) && x.bytes >= askInt(q.in.asked.MemoryBytes)
}

// partAt is the weighted score of free resources (leastAllocated) and images at a place.
func (q *quick) partAt(place int32) int32 {
	x, as, weights := &q.numbers[place], &q.in.assumed, &q.in.profile.Weights
	part := freePart(x.leftMilliCPU-float64(as.MilliCPU), x.perMilliCPU) + freePart(x.leftBytes-float64(as.MemoryBytes), x.perByte)
	part = part >> 1 * int32(weights.ResourcesFit)
	if images := q.in.fixed.images; images != nil {
		part += int32(weights.ImageLocality) * int32(images[q.w.walk[place]])
	}
	return part
}

// freePart is freeShare for what would be left.
func freePart(left, per float64) int32 {
	if left < 0 {
		return 0
	}
	return int32(left*per + roundUp)
}

// scan finds the feasible nodes.
func (q *quick) scan() {
	barred := q.barred()
	for _, n := range barred {
		q.free[q.place[n]].milliCPU = noRoom
	}
	f, count := &q.field, 0
	milliCPU, bytes := askInt(q.in.asked.MilliCPU), askInt(q.in.asked.MemoryBytes)
	open := q.openPlaces()
	for block := range f.fits {
		low := block << 6
		free := q.free[low:min(low+64, len(q.free))]
		word := uint64(0)
		for i := range free { // no branches: which nodes are full follows no pattern
			x := &free[i]
			word |= uint64(^((x.milliCPU - milliCPU) | (x.bytes - bytes))) >> 63 << (i & 63)
		}
		word &= open[block]
		f.fits[block] = word
		at := f.at[count:]
		for k := 0; word != 0; k++ {
			at[k] = int32(low + bits.TrailingZeros64(word))
			word &= word - 1
		}
		count += bits.OnesCount64(f.fits[block])
	}
	f.count = count
	for _, n := range barred {
		q.look(n)
	}
}

// openPlaces are the places of the groups that are allowed, as bits.
func (q *quick) openPlaces() []uint64 {
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
func (q *quick) extend() {
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
