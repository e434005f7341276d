package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
)

// CouldRun returns a function that reports whether a replacement of the pod could run on
// a node next to `pods` pods that request `held`. It checks resources and the filters
// that do not depend on other pods: readiness, selectors, taints, volumes and declared
// features. It does not check ports, volume limits, topology spread and inter-pod
// affinity. For unsupported pods, the function returns true.
func (m *ClusterModel) CouldRun(p cluster.PodID) func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
	if _, ok := m.Supported(p); !ok {
		return func(cluster.NodeID, *cluster.Resources, int64) bool { return true }
	}
	in := m.replacementOf(p)
	return func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
		return filter.PassesStaticFilters(in, n) && filter.Fits(&m.Snap.Nodes[n], in.CheckedRequests, held, pods)
	}
}
