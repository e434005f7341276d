package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// refresh takes the changes since the last prediction of the class in.
func (w *World) refresh(in *incoming) {
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

func (w *World) refit(in *incoming, n int) {
	f := &in.fit
	f.ok[n] = in.canRun[n] && in.vol.never == "" &&
		(in.vol.bindOK == nil || in.vol.bindOK[n]) && (in.vol.zoneOK == nil || in.vol.zoneOK[n]) && (in.featuresOK == nil || in.featuresOK[n]) &&
		fitsResources(&w.clusterState, in.asked, n) && w.ports.taken(in.ports, n) == 0 && !w.held.diskTaken(in.disks, n) && w.attachments.refuses(in.vol.attach, n) == ""
	if !f.ok[n] {
		return
	}
	if f.amount != nil {
		f.amount[n] = int8(resourcesFit(&w.clusterState, in, cluster.NodeID(n)))
	}
	if f.even != nil {
		f.even[n] = int8(balancedAllocation(&w.clusterState, in, cluster.NodeID(n)))
	}
}
