package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/hints"
	corev1 "k8s.io/api/core/v1"
)

// Topology maps each node to its domain of one topology key.
type Topology struct {
	// Domain holds the domain number of each node; NoDomain for a node without the label. The
	// number of the empty label value is 0.
	Domain           []int32
	Size             int
	ID               int  // unique ID
	OneNodePerDomain bool // no domain has two nodes
}

// NoDomain is the domain of a node without the topology label.
const NoDomain = -1

// TopologyOf returns the domains of a topology key, and builds them on first use.
func (m *Cluster) TopologyOf(key string) *Topology {
	if t := m.Topologies[key]; t != nil {
		return t
	}
	m.LastID++
	t := &Topology{Domain: make([]int32, len(m.Snap.Nodes)), ID: m.LastID, OneNodePerDomain: true}
	numbers, used := map[string]int32{"": 0}, map[int32]bool{}
	for i := range m.Snap.Nodes {
		value, ok := m.Snap.Nodes[i].Label(key)
		if !ok {
			t.Domain[i] = NoDomain
			continue
		}
		number, known := numbers[value]
		if !known {
			number = int32(len(numbers))
			numbers[value] = number
		}
		t.Domain[i] = number
		t.OneNodePerDomain = t.OneNodePerDomain && !used[number]
		used[number] = true
	}
	if len(used) == 0 { // pods may name thousands of keys that no node has
		if m.noDomains == nil {
			m.noDomains = t
		}
		t = m.noDomains
	}
	t.Size = len(numbers)
	m.Topologies[key] = t
	return t
}

// newNodeOrder returns the order in which the scheduler examines nodes: one node of each zone in
// turn. The scheduler keeps zones and nodes in the order in which it first saw them. The model
// sorts zones and nodes by name, which is the scheduler's order after a restart.
func newNodeOrder(s *cluster.Snapshot) []cluster.NodeID {
	var zones [][]cluster.NodeID
	number := map[[2]string]int{}
	for i := range s.Nodes {
		key := zoneOf(s.Nodes[i].Object)
		z, ok := number[key]
		if !ok {
			z = len(zones)
			number[key] = z
			zones = append(zones, nil)
		}
		zones[z] = append(zones[z], cluster.NodeID(i))
	}
	out := make([]cluster.NodeID, 0, len(s.Nodes))
	for k := 0; len(out) < len(s.Nodes); k++ {
		for _, z := range zones {
			if k < len(z) {
				out = append(out, z[k])
			}
		}
	}
	return out
}

// zoneOf returns the region and the zone of a node. As in the scheduler, the deprecated labels take
// precedence.
func zoneOf(n *corev1.Node) [2]string {
	label := func(old, now string) string {
		if v, ok := n.Labels[old]; ok {
			return v
		}
		return n.Labels[now]
	}
	return [2]string{
		label(corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion),
		label(corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone),
	}
}

// SteeringHints are the steering hints that the model adds to the nodes of the snapshot.
type SteeringHints struct {
	taints map[cluster.NodeID]int64        // 1 for a taint that the snapshot does not have
	labels map[cluster.NodeID]*corev1.Node // a copy with the label
}

// ExtraTaints returns the number of steering taints that the model adds to the node: 0 or 1.
func (h *SteeringHints) ExtraTaints(n cluster.NodeID) int64 { return h.taints[n] }

// NewSteeringHints returns hints of one kind on exactly these nodes. If the snapshot already has
// the taint on a node, the node gets no second taint.
func NewSteeringHints(s *cluster.Snapshot, kind hints.Kind, nodes []cluster.NodeID) (h SteeringHints) {
	switch {
	case len(nodes) == 0:
	case kind == hints.Taint:
		h.taints = map[cluster.NodeID]int64{}
		for _, n := range nodes {
			if !hints.HasTaint(s.Nodes[n].Object) {
				h.taints[n] = 1
			}
		}
	case kind == hints.Label:
		h.labels = map[cluster.NodeID]*corev1.Node{}
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
