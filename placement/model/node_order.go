package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
)

// newNodeOrder is the order in which the scheduler looks at nodes: one node of
// each zone in turn. Nodes of a zone, and zones, come in the order in which the
// scheduler heard of them; taken here is that of the names, in which it lists
// the nodes that are there when it starts.
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

// InitNodeOrder returns the order of the walk.
func (w *Cluster) InitNodeOrder() []cluster.NodeID {
	if w.NodeOrder == nil {
		w.NodeOrder = newNodeOrder(w.Snap)
		w.NodePosition = make([]int32, len(w.NodeOrder))
		for place, n := range w.NodeOrder {
			w.NodePosition[n] = int32(place)
		}
	}
	return w.NodeOrder
}

// zoneOf returns region and zone; the old labels come first, as they do in the
// scheduler.
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
