package model

import "github.com/evenkeel-project/evenkeel/cluster"

// PlaceReplacement places the replacement of the pod on the node `to`, while the pod
// itself still terminates on its node. As in kube-scheduler, a terminating pod keeps its
// requests, ports, disks and claims, and inter-pod affinity counts it; topology spread
// does not. The replacement may be on the same node. EndTermination removes the pod.
func (m *Cluster) PlaceReplacement(p cluster.PodID, to cluster.NodeID) {
	from := m.PodNode[p]
	if from == cluster.NoNode || m.Snap.Pods[p].Terminal {
		m.Move(p, to)
		return
	}
	m.Move(p, to)
	m.AdjustUsage(p, from, 1)
	if m.terminating == nil {
		m.terminating = map[cluster.PodID]cluster.NodeID{}
	}
	m.terminating[p] = from
}

// EndTermination removes the pod from the node on which it still terminates. It does
// nothing for a pod that PlaceReplacement did not keep.
func (m *Cluster) EndTermination(p cluster.PodID) {
	if from, ok := m.terminating[p]; ok {
		delete(m.terminating, p)
		m.AdjustUsage(p, from, -1)
	}
}
