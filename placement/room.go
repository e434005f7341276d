package placement

import (
	"cmp"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/cycle"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// LeastToFill returns the least number of replacements of other pods that leave too few resources for
// the replacement of p on a node, if they land there beside its present pods. The node now has room
// for p. If p has room even beside all of them, the result is len(others) + 1.
func LeastToFill(m *ClusterModel, n cluster.NodeID, p cluster.PodID, others []cluster.PodID) int {
	in := m.replacementOf(p)
	never := len(others) + 1
	if in.CheckedRequests == nil {
		return never
	}
	node := &m.Cluster.Snap.Nodes[n]
	used, pods := usedByOthers(m, n, p)
	least := min(never, int(max(1, node.AllowedPods-pods)))
	amounts := make([]int64, len(others))
	for _, name := range in.CheckedRequests.Names() {
		wanted := in.CheckedRequests.Get(name)
		if wanted == 0 {
			continue
		}
		for i, q := range others {
			amounts[i] = m.replacementByNode(q).Requests.Get(name)
		}
		slices.SortFunc(amounts, func(a, b int64) int { return cmp.Compare(b, a) })
		free := node.Allocatable.Get(name) - used.Get(name) - wanted
		for i, amount := range amounts {
			if free -= amount; free < 0 {
				least = min(least, i+1)
				break
			}
		}
	}
	return least
}

// AtLeastToFill returns a lower bound of LeastToFill for any number of others whose requests are at
// most largest. It is 1 for a pod that ExcludeEachOther may keep apart from others.
func AtLeastToFill(m *ClusterModel, n cluster.NodeID, p cluster.PodID, largest *cluster.Resources) int64 {
	in := m.replacementOf(p)
	if len(in.Ports)+len(in.InterPod.Anti)+len(in.InterPod.ExistingAnti)+len(in.Disks)+len(in.Volumes.Attach) > 0 {
		return 1
	}
	node := &m.Cluster.Snap.Nodes[n]
	used, pods := usedByOthers(m, n, p)
	least := max(1, node.AllowedPods-pods)
	requests := cmp.Or(in.CheckedRequests, &cluster.Resources{})
	for _, name := range requests.Names() {
		if wanted, most := requests.Get(name), largest.Get(name); wanted > 0 && most > 0 {
			least = min(least, max(0, node.Allocatable.Get(name)-used.Get(name)-wanted)/most+1)
		}
	}
	return least
}

// usedByOthers returns the requests and the number of the pods on a node without p, which leaves before its
// replacement can return. The caller must not change the requests.
func usedByOthers(m *ClusterModel, n cluster.NodeID, p cluster.PodID) (*cluster.Resources, int64) {
	used := &m.Cluster.Requests[n]
	if m.Cluster.NodeOf(p) != n {
		return &used.Resources, used.Pods
	}
	others := used.Resources.Clone()
	others.Sub(m.Cluster.Snap.Pods[p].Requests)
	return &others, used.Pods - 1
}

// RequestsOf returns the requests of the replacement of p. The caller must not change them.
func RequestsOf(m *ClusterModel, p cluster.PodID) *cluster.Resources {
	return &m.replacementByNode(p).Requests
}

// ExcludeEachOther reports whether the replacements of two pods may not fit on one node however large
// it is: by host ports, required anti-affinity, disks, or volumes that count against a limit of the
// node.
func ExcludeEachOther(m *ClusterModel, p, q cluster.PodID) bool {
	a, b := m.replacementOf(p), m.replacementOf(q)
	avoids := func(a, b *cycle.Replacement) bool {
		return slices.ContainsFunc(a.InterPod.Anti, func(t cycle.TermWithTopology) bool { return b.Class.CountedBy(t.Pods) })
	}
	return model.PortsConflict(a.Ports, b.Ports) || avoids(a, b) || avoids(b, a) ||
		len(a.Disks) > 0 && len(b.Disks) > 0 || len(a.Volumes.Attach) > 0 && len(b.Volumes.Attach) > 0
}
