package fast

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// freeResources holds a node's allocatable minus requested resources, which the resource filter
// compares with the pod's requests.
type freeResources struct{ milliCPU, bytes int64 }

// scoringData holds the values of a node that the resource scores read. leftMilliCPU and leftBytes
// are allocatable minus the non-zero requests. percentPerMilliCPU and percentPerByte are 100 /
// allocatable. halfShareDiff is half the difference between the requested shares of cpu and memory,
// in percent. balance is score.Balance without the new pod.
type scoringData struct {
	leftMilliCPU, leftBytes, percentPerMilliCPU, percentPerByte float64
	halfShareDiff                                               float64
	balance                                                     int64
}

// The product left x percentPerUnit, plus roundUp, rounds down to the same number as the integer
// division 100 x left / allocatable = v. The float error is less than 3 x 10^-14 for v <= 100.
// roundUp is 5.7 x 10^-14, so the sum is never below v. The sum exceeds v by less than 9 x 10^-14.
// If v is not a whole number, the next whole number is at least 1 / allocatable = 1.1 x 10^-13
// away.
const (
	roundUp        = 1.0 / (1 << 44)
	maxAllocatable = 1 << 43
)

// noPodSlot is stored as the free CPU of a node that already has the maximum number of pods.
// noRequest is the threshold of a pod without a request. noRequest lies below every free amount
// except noPodSlot.
const (
	noPodSlot = -1 << 62
	noRequest = -1 << 61
)

// nodeResources holds the free resources of every node, by position in the node order. update keeps
// the values current.
type nodeResources struct {
	model           *model.Cluster
	position        []int32         // by node: its position in the node order
	free            []freeResources // by position
	scoring         []scoringData   // by position
	freePercent     []uint8         // by position, 0..200: free cpu percent plus free memory percent
	countByFree     [256]int32      // by free percent: number of nodes
	positionsByFree [][]uint64      // by free percent: bit set of positions
	maxFreeBound    int             // at least the free percent of every node
	amplePositions  []uint64        // bit set of positions that have ampleFraction of the largest node free
	exact           bool            // every allocatable is small enough for exact float arithmetic
	balancedByGain  bool            // Features.BalancedByGain

	leastMilliCPU, leastBytes int64 // smallest allocatable of any node
	mostMilliCPU, mostBytes   int64 // largest allocatable of any node
	hasAssumedRequests        bool  // some pod has no cpu or memory request, so scores assume one

	others []freeAmounts // of the other resources that replacements have requested
}

// freeAmounts holds the free amounts of one resource, by position.
type freeAmounts struct {
	name string
	free []int64
}

func newNodeResources(w *model.Cluster) nodeResources {
	n := len(w.Snap.Nodes)
	words := (n + 63) / 64
	w.InitNodeOrder()
	q := nodeResources{model: w, position: w.NodePosition, scoring: make([]scoringData, n), free: make([]freeResources, n),
		freePercent: make([]uint8, n), amplePositions: make([]uint64, words), exact: true,
		balancedByGain: w.Snap.Scheduler.BalancedByGain, leastMilliCPU: maxAllocatable, leastBytes: maxAllocatable}
	q.countByFree[0], q.positionsByFree = int32(n), make([][]uint64, 2*scheduler.MaxScore+1)
	all := make([]uint64, len(q.positionsByFree)*words)
	for percent := range q.positionsByFree {
		q.positionsByFree[percent] = all[percent*words : (percent+1)*words]
	}
	for position := range n {
		q.positionsByFree[0][position>>6] |= 1 << (position & 63)
	}
	for _, n := range w.NodeOrder {
		l := &w.Requests[n]
		q.exact = q.exact && l.AllocatableMilliCPU > 0 && l.AllocatableMilliCPU <= maxAllocatable &&
			l.AllocatableBytes > 0 && l.AllocatableBytes <= maxAllocatable
		q.mostMilliCPU, q.mostBytes = max(q.mostMilliCPU, l.AllocatableMilliCPU), max(q.mostBytes, l.AllocatableBytes)
		q.leastMilliCPU, q.leastBytes = min(q.leastMilliCPU, l.AllocatableMilliCPU), min(q.leastBytes, l.AllocatableBytes)
	}
	for _, n := range w.NodeOrder {
		q.update(n)
	}
	return q
}

// update rereads the resources of a node. The caller must call update after every change of the
// node's pods.
func (r *nodeResources) update(n cluster.NodeID) {
	place := r.position[n]
	l, x, has := &r.model.Requests[n], &r.scoring[place], &r.free[place]
	x.leftMilliCPU, x.leftBytes = float64(l.AllocatableMilliCPU-l.NonZeroMilliCPU), float64(l.AllocatableBytes-l.NonZeroBytes)
	x.percentPerMilliCPU, x.percentPerByte = 100/float64(l.AllocatableMilliCPU), 100/float64(l.AllocatableBytes)
	*has = freeResources{max(l.AllocatableMilliCPU-l.MilliCPU, noRequest/2), max(l.AllocatableBytes-l.MemoryBytes, noRequest/2)}
	if l.Pods+1 > r.model.Snap.Nodes[n].AllowedPods {
		has.milliCPU = noPodSlot
	}
	r.hasAssumedRequests = r.hasAssumedRequests || l.MilliCPU != l.NonZeroMilliCPU || l.MemoryBytes != l.NonZeroBytes
	for i := range r.others {
		r.others[i].free[place] = r.freeOn(n, r.others[i].name)
	}
	bit, base := uint64(1)<<(place&63), uint8(0)
	if r.exact { // else some node may have no cpu or no memory
		base = uint8(freePercentOf(x.leftMilliCPU, x.percentPerMilliCPU) + freePercentOf(x.leftBytes, x.percentPerByte))
	}
	if was := r.freePercent[place]; was != base {
		r.countByFree[was]--
		r.countByFree[base]++
		r.positionsByFree[was][place>>6] &^= bit
		r.positionsByFree[base][place>>6] |= bit
		r.freePercent[place], r.maxFreeBound = base, max(r.maxFreeBound, int(base))
	}
	x.halfShareDiff = 50 * (min(float64(l.MilliCPU)/float64(l.AllocatableMilliCPU), 1) - min(float64(l.MemoryBytes)/float64(l.AllocatableBytes), 1))
	x.balance = score.Balance(l.MilliCPU, l.AllocatableMilliCPU, l.MemoryBytes, l.AllocatableBytes)
	if r.amplePositions[place>>6] &^= bit; has.milliCPU >= r.mostMilliCPU/ampleFraction && has.bytes >= r.mostBytes/ampleFraction {
		r.amplePositions[place>>6] |= bit
	}
}

// freeOf returns the free amounts of a resource by position; nil if no node has the resource.
func (r *nodeResources) freeOf(name string) []int64 {
	for i := range r.others {
		if r.others[i].name == name {
			return r.others[i].free
		}
	}
	free, some := make([]int64, len(r.position)), false
	for place, n := range r.model.NodeOrder {
		free[place] = r.freeOn(n, name)
		some = some || r.model.Snap.Nodes[n].Allocatable.Get(name) > 0
	}
	if !some {
		return nil
	}
	r.others = append(r.others, freeAmounts{name, free})
	return free
}

func (r *nodeResources) freeOn(n cluster.NodeID, name string) int64 {
	return r.model.Snap.Nodes[n].Allocatable.Get(name) - r.model.Requests[n].Get(name)
}

// An "ample" node has at least 1/ampleFraction of the largest node free. If a pod requests at most
// this amount, find accepts all ample nodes without comparing each of them.
const ampleFraction = 16

// freePercentOf returns the free share of a resource in percent, rounded down; 0 if it is negative.
func freePercentOf(left, per float64) int32 {
	if left < 0 {
		return 0
	}
	return int32(left*per + roundUp)
}

// maxFreePercent returns the largest sum of free CPU percent and free memory percent of any node.
func (r *nodeResources) maxFreePercent() int {
	for r.countByFree[r.maxFreeBound] == 0 && r.maxFreeBound > 0 {
		r.maxFreeBound--
	}
	return r.maxFreeBound
}
