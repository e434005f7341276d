package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// updateLocal takes the changes since the last prediction of the class in.
func (w *ClusterModel) updateLocal(in *Replacement) {
	f, now := &in.Local, w.DroppedChanges+len(w.Changes)
	switch {
	case f.OK == nil:
		n := len(w.Snap.Nodes)
		f.OK = make([]bool, n)
		if in.profile.ScoresResourcesFit {
			f.ResourcesFit = make([]int8, n)
		}
		if in.profile.ScoresBalanced {
			f.Balanced = make([]int8, n)
		}
		fallthrough
	case f.SeenChanges < w.DroppedChanges:
		for n := range f.OK {
			w.updateNode(in, n)
		}
	default:
		for _, n := range w.Changes[f.SeenChanges-w.DroppedChanges:] {
			w.updateNode(in, int(n))
		}
	}
	f.SeenChanges = now
}

func (w *ClusterModel) updateNode(in *Replacement, n int) {
	f := &in.Local
	f.OK[n] = in.NodeOK[n] && in.Volumes.Refused == "" &&
		(in.Volumes.Bindable == nil || in.Volumes.Bindable[n]) && (in.Volumes.InZone == nil || in.Volumes.InZone[n]) && (in.featuresOK == nil || in.featuresOK[n]) &&
		HasResources(w.Cluster, in.Checked, n) && w.Ports.taken(in.ports, n) == 0 && !w.Disks.Conflicts(in.disks, n) && w.Attachments.BlockingDriver(in.Volumes.Attach, n) == ""
	if !f.OK[n] {
		return
	}
	if f.ResourcesFit != nil {
		f.ResourcesFit[n] = int8(resourcesFit(w.Cluster, in, cluster.NodeID(n)))
	}
	if f.Balanced != nil {
		f.Balanced[n] = int8(balancedAllocation(w.Cluster, in, cluster.NodeID(n)))
	}
}
