package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
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
