package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// SteeringHints are the steering hints that nodes carry in this world beyond those of
// the snapshot.
type SteeringHints struct {
	taints []int64        // by node, 1 for a taint that the snapshot does not have
	labels []*corev1.Node // by node, the node with the label; nil elsewhere
}

func (h *SteeringHints) taint(n cluster.NodeID) int64 {
	if h.taints == nil {
		return 0
	}
	return h.taints[n]
}

// NodeObject is the node as the scheduler would see it in this world, its taints
// excepted.
func (w *Cluster) NodeObject(n int) *corev1.Node {
	if w.Hints.labels != nil && w.Hints.labels[n] != nil {
		return w.Hints.labels[n]
	}
	return w.Snap.Nodes[n].Object
}
