package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// NewNodeSet is a set of these nodes.
func NewNodeSet(w *Cluster, nodes []cluster.NodeID) NodeSet {
	w.WalkOrder()
	places := w.WalkPlace
	s := NodeSet{count: len(nodes), bits: make([]uint64, (len(places)+63)/64), place: places, walk: w.Walk}
	for _, n := range nodes {
		s.bits[places[n]>>6] |= 1 << (places[n] & 63)
	}
	return s
}
