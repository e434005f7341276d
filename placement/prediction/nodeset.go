package prediction

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// NodeSet is a bit set of nodes. The zero value is empty.
type NodeSet struct {
	Count    int
	Bits     []uint64         // by position
	Position []int32          // by node; read-only
	Order    []cluster.NodeID // by position; read-only
}

func (s NodeSet) Len() int { return s.Count }

func (s NodeSet) Has(n cluster.NodeID) bool {
	if s.Count == 0 {
		return false
	}
	at := s.Position[n]
	return s.Bits[at>>6]>>(at&63)&1 != 0
}

// Filter returns the nodes of the set that good accepts.
func (s NodeSet) Filter(good func(cluster.NodeID) bool) NodeSet {
	kept := NodeSet{Bits: make([]uint64, len(s.Bits)), Position: s.Position, Order: s.Order}
	for i, word := range s.Bits {
		for ; word != 0; word &= word - 1 {
			if good(s.Order[i<<6+bits.TrailingZeros64(word)]) {
				kept.Bits[i] |= word & -word
				kept.Count++
			}
		}
	}
	return kept
}

// Clone returns a copy that stays valid after the next prediction.
func (s NodeSet) Clone() NodeSet {
	s.Bits = slices.Clone(s.Bits)
	return s
}

// Append appends the nodes of the set to the list, in the order in which the scheduler examines
// nodes.
func (s NodeSet) Append(list []cluster.NodeID) []cluster.NodeID {
	list = slices.Grow(list, s.Count)
	for i, word := range s.Bits {
		for ; word != 0; word &= word - 1 {
			list = append(list, s.Order[i<<6+bits.TrailingZeros64(word)])
		}
	}
	return list
}

// All iterates over the set in the order of NodeID.
func (s NodeSet) All() iter.Seq[cluster.NodeID] {
	return func(yield func(cluster.NodeID) bool) {
		for n := range s.Position {
			if s.Has(cluster.NodeID(n)) && !yield(cluster.NodeID(n)) {
				return
			}
		}
	}
}
