package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	corev1 "k8s.io/api/core/v1"
)

// SteeringHints are the steering hints that nodes carry in this world beyond those of
// the snapshot.
type SteeringHints struct {
	taints []int64        // by node, 1 for a taint that the snapshot does not have
	labels []*corev1.Node // by node, the node with the label; nil elsewhere
}

func (h *SteeringHints) ExtraTaints(n cluster.NodeID) int64 {
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

// NewSteeringHints are hints of a kind on exactly these nodes. A node that carries
// the taint in the snapshot already gets no second one.
func NewSteeringHints(s *cluster.Snapshot, kind hints.Kind, nodes []cluster.NodeID) (h SteeringHints) {
	switch {
	case len(nodes) == 0:
	case kind == hints.Taint:
		h.taints = make([]int64, len(s.Nodes))
		for _, n := range nodes {
			if !hints.HasTaint(s.Nodes[n].Object) {
				h.taints[n] = 1
			}
		}
	case kind == hints.Label:
		h.labels = make([]*corev1.Node, len(s.Nodes))
		for _, n := range nodes {
			h.labels[n] = hints.WithLabel(s.Nodes[n].Object)
		}
	}
	return h
}

func (h *SteeringHints) IsEmpty() bool { return h.taints == nil && h.labels == nil }

// HasTaints reports whether any node has a hint by taint.
func (h *SteeringHints) HasTaints() bool { return h.taints != nil }

// HasLabels reports whether any node has a hint by label.
func (h *SteeringHints) HasLabels() bool { return h.labels != nil }
