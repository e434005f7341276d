package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// updateLocal takes the changes since the last prediction of the class in.
func (w *ClusterModel) updateLocal(in *cycle.Replacement) {
	f, now := &in.Local, w.DroppedChanges+len(w.Changes)
	switch {
	case f.OK == nil:
		n := len(w.Snap.Nodes)
		f.OK = make([]bool, n)
		if in.Profile.ScoresResourcesFit {
			f.ResourcesFit = make([]int8, n)
		}
		if in.Profile.ScoresBalanced {
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

func (w *ClusterModel) updateNode(in *cycle.Replacement, n int) {
	f := &in.Local
	f.OK[n] = in.NodeOK[n] && in.Volumes.Refused == "" &&
		(in.Volumes.Bindable == nil || in.Volumes.Bindable[n]) && (in.Volumes.InZone == nil || in.Volumes.InZone[n]) && (in.FeaturesOK == nil || in.FeaturesOK[n]) &&
		filter.HasResources(w.Cluster, in.Checked, n) && w.Ports.Taken(in.Ports, n) == 0 && !w.Disks.Conflicts(in.Disks, n) && w.Attachments.BlockingDriver(in.Volumes.Attach, n) == ""
	if !f.OK[n] {
		return
	}
	if f.ResourcesFit != nil {
		f.ResourcesFit[n] = int8(score.ResourcesFit(w.Cluster, in, cluster.NodeID(n)))
	}
	if f.Balanced != nil {
		f.Balanced[n] = int8(score.BalancedAllocation(w.Cluster, in, cluster.NodeID(n)))
	}
}
