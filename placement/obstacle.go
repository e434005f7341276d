package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
)

// Obstacle says what makes placements unpredictable.
type Obstacle uint8

const (
	NoObstacle        Obstacle = iota
	ServerObstacle             // the pod's scheduler, because its server version has no model of its own
	SchedulerObstacle          // the pod's scheduler, for another reason
	PodObstacle                // the pod, its owner or its volumes
)

// Obstacle returns what makes the placement of the pod's replacement unpredictable, and the sentence of Supported.
func (m *ClusterModel) Obstacle(p cluster.PodID) (Obstacle, string) {
	pod := &m.Cluster.Snap.Pods[p]
	why, ok := m.Supported(p)
	switch {
	case ok:
		return NoObstacle, ""
	case m.unsupportedProfile(m.Cluster.PodClass[p].Profile, scheduler.NameOf(pod.Object)) == "":
		return PodObstacle, why
	case !m.Cluster.Snap.KnownVersion():
		return ServerObstacle, why
	}
	return SchedulerObstacle, why
}

// CouldRun returns a function that reports whether a replacement of the pod could run on a node
// next to `pods` pods that request `held`. The function checks resources, readiness, selectors,
// taints, volumes and declared features. The function ignores ports, volume limits, topology spread
// and inter-pod affinity. For unsupported pods, the function returns true.
func (m *ClusterModel) CouldRun(p cluster.PodID) func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
	if _, ok := m.Supported(p); !ok {
		return func(cluster.NodeID, *cluster.Resources, int64) bool { return true }
	}
	in := m.replacementByNode(p)
	return func(n cluster.NodeID, held *cluster.Resources, pods int64) bool {
		passes := func(byNode []bool) bool { return byNode == nil || byNode[n] }
		return in.CanRun[n] && in.Volumes.RefusedReason == "" && passes(in.Volumes.Bindable) && passes(in.Volumes.InZone) &&
			passes(in.FeaturesOK) && filter.Fits(&m.Cluster.Snap.Nodes[n], in.CheckedRequests, held, pods)
	}
}
