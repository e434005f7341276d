package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// hinted are the steering hints that nodes carry in this world beyond those of
// the snapshot.
type hinted struct {
	taints []int64        // by node, 1 for a taint that the snapshot does not have
	labels []*corev1.Node // by node, the node with the label; nil elsewhere
}

func (h *hinted) taint(n cluster.NodeID) int64 {
	if h.taints == nil {
		return 0
	}
	return h.taints[n]
}

// object is the node as the scheduler would see it in this world, its taints
// excepted.
func (w *clusterState) object(n int) *corev1.Node {
	if w.hinted.labels != nil && w.hinted.labels[n] != nil {
		return w.hinted.labels[n]
	}
	return w.snap.Nodes[n].Object
}
