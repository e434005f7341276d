package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// fit is what a class finds on each node that depends on the pods there and on
// nothing else in the cluster. It stays true until pods come or go, so that a
// prediction looks anew at a few nodes only.
type fit struct {
	seen   int    // how many changes of the world it has taken in
	ok     []bool // every filter but those that count domains
	amount []int8 // NodeResourcesFit by the profile's strategy; nil: it does not score
	even   []int8 // BalancedAllocation; nil: it does not score
}

// changed notes that pods came to or left a node. The list is cut when it gets
// longer than looking at every node; whoever has not read it then does that.
func (w *clusterState) changed(n cluster.NodeID) {
	if len(w.changes) >= len(w.snap.Nodes) {
		w.forgotten += len(w.changes)
		w.changes = w.changes[:0]
	}
	w.changes = append(w.changes, n)
}

// refresh takes the changes since the last prediction of the class in.
func (w *clusterState) refresh(in *incoming) {
	f, now := &in.fit, w.forgotten+len(w.changes)
	switch {
	case f.ok == nil:
		n := len(w.snap.Nodes)
		f.ok = make([]bool, n)
		if in.profile.scoresAmount {
			f.amount = make([]int8, n)
		}
		if in.profile.scoresEven {
			f.even = make([]int8, n)
		}
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

func (w *clusterState) refit(in *incoming, n int) {
	f := &in.fit
	f.ok[n] = in.canRun[n] && in.vol.never == "" &&
		(in.vol.bindOK == nil || in.vol.bindOK[n]) && (in.vol.zoneOK == nil || in.vol.zoneOK[n]) && (in.featuresOK == nil || in.featuresOK[n]) &&
		w.fits(in.asked, n) && w.ports.taken(in.ports, n) == 0 && !w.held.diskTaken(in.disks, n) && w.attachments.refuses(in.vol.attach, n) == ""
	if !f.ok[n] {
		return
	}
	if f.amount != nil {
		f.amount[n] = int8(w.amountScore(in, cluster.NodeID(n)))
	}
	if f.even != nil {
		f.even[n] = int8(w.evenScore(in, cluster.NodeID(n)))
	}
}

// fits reports whether the node lacks nothing that is requested; nil requests
// nothing, not even room for a pod.
func (w *clusterState) fits(r *cluster.Resources, n int) bool {
	if r == nil {
		return true
	}
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
