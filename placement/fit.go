package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// fit is what a class finds on each node that depends on the pods there and on
// nothing else in the cluster. It stays true until pods come or go, so that a
// prediction looks anew at a few nodes only.
type fit struct {
	seen  int    // how many changes of the world it has taken in
	ok    []bool // every filter but those that count domains
	least []int8 // LeastAllocated
	even  []int8 // BalancedAllocation
}

// changed notes that pods came to or left a node. The list is cut when it gets
// longer than looking at every node; whoever has not read it then does that.
func (w *World) changed(n cluster.NodeID) {
	if len(w.changes) >= len(w.snap.Nodes) {
		w.forgotten += len(w.changes)
		w.changes = w.changes[:0]
	}
	w.changes = append(w.changes, n)
}

// refresh takes the changes since the last prediction of the class in.
func (w *World) refresh(in *incoming) {
	f, now := &in.fit, w.forgotten+len(w.changes)
	switch {
	case f.ok == nil:
		n := len(w.snap.Nodes)
		f.ok, f.least, f.even = make([]bool, n), make([]int8, n), make([]int8, n)
		fallthrough
	case f.seen < w.forgotten:
		for n := range f.ok {
			w.refit(in, n)
		}
	default:
		for _, n := range w.changes[f.seen-w.forgotten:] {
			w.refit(in, int(n))
		}
	}
	f.seen = now
}

func (w *World) refit(in *incoming, n int) {
	f := &in.fit
	f.ok[n] = in.canRun[n] && in.noClaim == "" &&
		(in.bindOK == nil || in.bindOK[n]) && (in.zoneOK == nil || in.zoneOK[n]) && (in.featuresOK == nil || in.featuresOK[n]) &&
		w.fits(&in.request, n) && w.portTaken(in.class, n) == 0 && !w.diskTaken(in.class, n) && w.noAttach(in, n) == ""
	if f.ok[n] {
		least, even := w.resourceScores(in, n)
		f.least[n], f.even[n] = int8(least), int8(even)
	}
}

// fits reports whether the node lacks nothing that is requested.
func (w *World) fits(r *cluster.Resources, n int) bool {
	l, node := &w.load[n], &w.snap.Nodes[n]
	a := &node.Allocatable
	if l.pods+1 > node.AllowedPods ||
		r.MilliCPU > 0 && r.MilliCPU > a.MilliCPU-l.milliCPU ||
		r.MemoryBytes > 0 && r.MemoryBytes > a.MemoryBytes-l.memory ||
		r.EphemeralStorageByte > 0 && r.EphemeralStorageByte > a.EphemeralStorageByte-l.ephemeral {
		return false
	}
	for name, amount := range r.Extended {
		if amount > 0 && amount > a.Extended[name]-l.extended[name] {
			return false
		}
	}
	return true
}

// resourceScores is LeastAllocated over cpu and memory, with the scheduler's
// assumed requests where there are none, and BalancedAllocation over the true
// requests, which does not score a pod that requests neither.
func (w *World) resourceScores(in *incoming, n int) (least, even int64) {
	l, a := &w.load[n], &w.snap.Nodes[n].Allocatable
	least = leastAllocated(
		l.nonZeroMilliCPU+in.assumed.MilliCPU, a.MilliCPU,
		l.nonZeroBytes+in.assumed.MemoryBytes, a.MemoryBytes)
	if in.request.MilliCPU == 0 && in.request.MemoryBytes == 0 {
		return least, 0
	}
	with := balance(l.milliCPU+in.request.MilliCPU, a.MilliCPU, l.memory+in.request.MemoryBytes, a.MemoryBytes)
	without := balance(l.milliCPU, a.MilliCPU, l.memory, a.MemoryBytes)
	// About 75 when the pod changes little, to 100 when it levels the node.
	return least, maxScore/2 + (maxScore/2+with-without)/2
}
