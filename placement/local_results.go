package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// updateLocalResults takes the changes since the last prediction of the class in.
func (w *ClusterModel) updateLocalResults(in *cycle.Replacement) {
	f, now := &in.Local, w.DroppedChanges+len(w.ChangedNodes)
	switch {
	case f.Passes == nil:
		n := len(w.Snap.Nodes)
		f.Passes = make([]bool, n)
		if in.Profile.ScoresResourcesFit {
			f.ResourcesFit = make([]int8, n)
		}
		if in.Profile.ScoresBalancedAllocation {
			f.Balanced = make([]int8, n)
		}
		fallthrough
	case f.SeenChanges < w.DroppedChanges:
		for n := range f.Passes {
			w.updateNodeResults(in, n)
		}
	default:
		for _, n := range w.ChangedNodes[f.SeenChanges-w.DroppedChanges:] {
			w.updateNodeResults(in, int(n))
		}
	}
	f.SeenChanges = now
}

func (w *ClusterModel) updateNodeResults(in *cycle.Replacement, n int) {
	f := &in.Local
	f.Passes[n] = in.CanRun[n] && in.Volumes.RefusedReason == "" &&
		(in.Volumes.Bindable == nil || in.Volumes.Bindable[n]) && (in.Volumes.InZone == nil || in.Volumes.InZone[n]) && (in.FeaturesOK == nil || in.FeaturesOK[n]) &&
		filter.HasResources(w.Cluster, in.CheckedRequests, n) && w.Ports.Taken(in.Ports, n) == 0 && !w.Disks.Conflicts(in.Disks, n) && w.Attachments.BlockingDriver(in.Volumes.Attach, n) == ""
	if !f.Passes[n] {
		return
	}
	if f.ResourcesFit != nil {
		f.ResourcesFit[n] = int8(score.ResourcesFit(w.Cluster, in, cluster.NodeID(n)))
	}
	if f.Balanced != nil {
		f.Balanced[n] = int8(score.BalancedAllocation(w.Cluster, in, cluster.NodeID(n)))
	}
}
