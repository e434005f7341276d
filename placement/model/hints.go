package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	corev1 "k8s.io/api/core/v1"
)

// SteeringHints are the steering hints that the model adds to the nodes of the snapshot.
type SteeringHints struct {
	taints []int64        // by node: 1 for a taint that the snapshot does not have
	labels []*corev1.Node // by node: a copy with the label; nil for nodes without a hint
}

// ExtraTaints returns the number of steering taints that the model adds to the node: 0 or 1.
func (h *SteeringHints) ExtraTaints(n cluster.NodeID) int64 {
	if h.taints == nil {
		return 0
	}
	return h.taints[n]
}

// NewSteeringHints returns hints of one kind on exactly these nodes. If the snapshot already has
// the taint on a node, the node gets no second taint.
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

// IsEmpty reports whether no node has a hint.
func (h *SteeringHints) IsEmpty() bool { return h.taints == nil && h.labels == nil }

// HasLabels reports whether the hints are labels.
func (h *SteeringHints) HasLabels() bool { return h.labels != nil }
