package placement

import "github.com/evenkeel-project/evenkeel/cluster"

// nodeSet is a set of these nodes.
func nodeSet(w *clusterState, nodes []cluster.NodeID) NodeSet {
	w.walked()
	places := w.place
	s := NodeSet{count: len(nodes), bits: make([]uint64, (len(places)+63)/64), place: places, walk: w.walk}
	for _, n := range nodes {
		s.bits[places[n]>>6] |= 1 << (places[n] & 63)
	}
	return s
}
