package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
)

// CouldRun says of each node whether a replacement of the pod could run there beside
// so many pods that request so much, whatever else there is: whether the filters that
// no other pod changes let it, of readiness, selectors, taints, volumes and declared
// features, and that of resources. Ports, limits of volumes, spread and affinity among
// pods are not asked. True where it is not known.
func (w *ClusterModel) CouldRun(p cluster.PodID) func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
	if _, ok := w.Supported(p); !ok {
		return func(cluster.NodeID, *cluster.Resources, int64) bool { return true }
	}
	in := w.replacementOf(p)
	return func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
		return in.CanRun[n] && in.Volumes.RefusedReason == "" && passesOn(in.Volumes.Bindable, n) && passesOn(in.Volumes.InZone, n) && passesOn(in.FeaturesOK, n) &&
			filter.HasRoomFor(&w.Snap.Nodes[n], in.CheckedRequests, held, pods)
	}
}

func passesOn(ok []bool, n cluster.NodeID) bool { return ok == nil || ok[n] }
