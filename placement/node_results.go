package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/score"
)

// updateLocalResults updates the results of the nodes whose pods changed since the last prediction
// of the class.
func (m *ClusterModel) updateLocalResults(in *cycle.Replacement) {
	f, now := &in.Local, m.Cluster.DroppedChanges+len(m.Cluster.ChangedNodes)
	switch {
	case f.Passes == nil:
		n := len(m.Cluster.Snap.Nodes)
		f.Passes = make([]bool, n)
		if in.Profile.ScoresResourcesFit {
			f.ResourcesFit = make([]int8, n)
		}
		if in.Profile.ScoresBalancedAllocation {
			f.Balanced = make([]int8, n)
		}
		fallthrough
	case f.SeenChanges < m.Cluster.DroppedChanges:
		for n := range f.Passes {
			m.updateNodeResults(in, n)
		}
	default:
		for _, n := range m.Cluster.ChangedNodes[f.SeenChanges-m.Cluster.DroppedChanges:] {
			m.updateNodeResults(in, int(n))
		}
	}
	f.SeenChanges = now
}

func (m *ClusterModel) updateNodeResults(in *cycle.Replacement, n int) {
	f, used := &in.Local, &m.Cluster.Requests[n]
	f.Passes[n] = filter.PassesStaticFilters(in, cluster.NodeID(n)) &&
		filter.Fits(&m.Cluster.Snap.Nodes[n], in.CheckedRequests, &used.Resources, used.Pods) && m.Cluster.Ports.FirstTaken(in.Ports, n) == 0 &&
		!m.Cluster.Disks.Conflicts(in.Disks, n) && m.Cluster.Attachments.BlockingDriver(in.Volumes.Attach, n) == ""
	if !f.Passes[n] {
		return
	}
	if f.ResourcesFit != nil {
		f.ResourcesFit[n] = int8(score.ResourcesFit(m.Cluster, in, cluster.NodeID(n)))
	}
	if f.Balanced != nil {
		f.Balanced[n] = int8(score.BalancedAllocation(m.Cluster, in, cluster.NodeID(n)))
	}
}

// CouldRun returns a function that reports whether a replacement of the pod could run on a node
// next to `pods` pods that request `held`. The function checks resources, readiness, selectors,
// taints, volumes and declared features. The function ignores ports, volume limits, topology spread
// and inter-pod affinity. For unsupported pods, the function returns true.
func (m *ClusterModel) CouldRun(p cluster.PodID) func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
	if _, ok := m.Supported(p); !ok {
		return func(cluster.NodeID, *cluster.Resources, int64) bool { return true }
	}
	in := m.replacementOf(p)
	return func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
		return filter.PassesStaticFilters(in, n) && filter.Fits(&m.Cluster.Snap.Nodes[n], in.CheckedRequests, held, pods)
	}
}
