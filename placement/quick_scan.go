package placement

import (
	"math"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// numbers are what a scan reads of a node. All are whole numbers below 2^53 but
// the last two, so that sums of them are exact.
type numbers struct {
	freeMilliCPU, freeBytes float64 // what the filter compares; -Inf cpu where there is no room for a pod
	leftMilliCPU, leftBytes float64 // what the score divides: allocatable less the nonZero sums
	perMilliCPU, perByte    float64 // 100 / allocatable
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

// unlimited is compared with what is free where nothing is requested.
const unlimited = -1e300

// quickOf returns the world's quick, building it on first use.
func (w *World) quickOf() *quick {
	if w.quick != nil {
		return w.quick
	}
	n := len(w.snap.Nodes)
	q := &quick{w: w, place: make([]int32, n), numbers: make([]numbers, n), before: make([]int8, n), usable: true, leastMilliCPU: maxAllocatable, leastBytes: maxAllocatable, odds: make([]float64, n), won: make([]uint64, (n+63)/64)}
	w.quick = q
	q.field = field{at: make([]int32, 2*n), part: make([]int32, n+1), group: make([]uint8, n+1), fits: make([]uint64, (n+63)/64)}
	for place, n := range w.walked() {
		q.place[n] = int32(place)
		l := &w.load[n]
		q.usable = q.usable && l.allocatableMilliCPU > 0 && l.allocatableMilliCPU <= maxAllocatable && l.allocatableBytes > 0 && l.allocatableBytes <= maxAllocatable
		q.leastMilliCPU, q.leastBytes = min(q.leastMilliCPU, l.allocatableMilliCPU), min(q.leastBytes, l.allocatableBytes)
		q.look(n)
	}
	return q
}

// look reads a node's numbers anew.
func (q *quick) look(n cluster.NodeID) {
	l, x := &q.w.load[n], &q.numbers[q.place[n]]
	x.freeMilliCPU, x.freeBytes = float64(l.allocatableMilliCPU-l.milliCPU), float64(l.allocatableBytes-l.memory)
	if l.pods+1 > q.w.snap.Nodes[n].AllowedPods {
		x.freeMilliCPU = math.Inf(-1)
	}
	x.leftMilliCPU, x.leftBytes = float64(l.allocatableMilliCPU-l.nonZeroMilliCPU), float64(l.allocatableBytes-l.nonZeroBytes)
	q.before[n] = int8(balance(l.milliCPU, l.allocatableMilliCPU, l.memory, l.allocatableBytes))
	x.perMilliCPU, x.perByte = 100/float64(l.allocatableMilliCPU), 100/float64(l.allocatableBytes)
}

// asking is what a newcomer asks for, as numbers are read.
type asking struct{ milliCPU, bytes, assumedMilliCPU, assumedBytes float64 }

func (q *quick) asking() asking {
	ask := func(v int64) float64 {
		if v <= 0 {
			return unlimited
		}
		return float64(v)
	}
	a, as := q.in.asked, &q.in.assumed
	return asking{ask(a.MilliCPU), ask(a.MemoryBytes), float64(as.MilliCPU), float64(as.MemoryBytes)}
}

// fits reports whether the node has what the newcomer asks for.
func (x *numbers) fits(r *asking) bool {
	return x.freeMilliCPU-r.milliCPU >= 0 && x.freeBytes-r.bytes >= 0
}

// amount is the score of NodeResourcesFit: leastAllocated.
func (x *numbers) amount(r *asking) int32 {
	return (freePart(x.leftMilliCPU-r.assumedMilliCPU, x.perMilliCPU) + freePart(x.leftBytes-r.assumedBytes, x.perByte)) >> 1
}

// freePart is freeShare for what would be left.
func freePart(left, per float64) int32 {
	if left < 0 {
		return 0
	}
	return int32(left*per + roundUp)
}

// scan finds the feasible nodes and their part of the score.
func (q *quick) scan() {
	barred := q.barred()
	for _, n := range barred {
		q.numbers[q.place[n]].freeMilliCPU = math.Inf(-1)
	}
	f, r, land, weight := &q.field, q.asking(), q.sight.land, int32(q.in.profile.Weights.ResourcesFit)
	count, groups := 0, land.group
	all, word := q.numbers[:len(groups)], uint64(0)
	at, part, group := f.at[:len(groups)], f.part[:len(groups)], f.group[:len(groups)]
	for i, g := range groups {
		if x := &all[i]; q.allowed[g] && x.fits(&r) {
			at[count], part[count], group[count] = int32(i), weight*x.amount(&r), g
			word |= 1 << (i & 63)
			count++
		}
		if i&63 == 63 {
			f.fits[i>>6], word = word, 0
		}
	}
	if len(groups)&63 != 0 {
		f.fits[len(groups)>>6] = word
	}
	f.count = count
	q.addImages()
	for _, n := range barred {
		q.look(n)
	}
}

func (q *quick) addImages() {
	weight, images, f := int32(q.in.profile.Weights.ImageLocality), q.in.fixed.images, &q.field
	if images == nil || weight == 0 {
		return
	}
	for i, place := range f.at[:f.count] {
		f.part[i] += weight * int32(images[q.w.walk[place]])
	}
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
