package prediction

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// NewNodeSet is a set of these nodes.
func NewNodeSet(w *model.Cluster, nodes []cluster.NodeID) NodeSet {
	w.WalkOrder()
	places := w.WalkPlace
	s := NodeSet{Count: len(nodes), Bits: make([]uint64, (len(places)+63)/64), Place: places, Walk: w.Walk}
	for _, n := range nodes {
		s.Bits[places[n]>>6] |= 1 << (places[n] & 63)
	}
	return s
}
