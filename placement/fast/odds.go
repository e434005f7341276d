package fast

import (
	"math/bits"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// nodeOdds holds the probability that each node wins, over all windows.
type nodeOdds struct {
	byNode   []float64
	bits     []uint64 // bit set of the nodes that may have odds
	maxTotal int64    // best total of any window until now
	saved    savedOdds
}

// savedOdds holds the odds of the start positions whose windows do not contain the victim's node.
type savedOdds struct {
	known    bool
	nodes    []int32
	odds     []float64
	maxTotal int64
}

func (o *nodeOdds) add(n cluster.NodeID, odds float64) {
	o.byNode[n] += odds
	o.bits[n>>6] |= 1 << (n & 63)
}

func (o *nodeOdds) clear() {
	for i, word := range o.bits {
		for ; word != 0; word &= word - 1 {
			o.byNode[i<<6+bits.TrailingZeros64(word)] = 0
		}
		o.bits[i] = 0
	}
	o.maxTotal = noScore
}

func (o *nodeOdds) save() {
	k := &o.saved
	k.known = true
	k.nodes, k.odds, k.maxTotal = k.nodes[:0], k.odds[:0], o.maxTotal
	for i, word := range o.bits {
		for ; word != 0; word &= word - 1 {
			n := i<<6 + bits.TrailingZeros64(word)
			k.nodes, k.odds = append(k.nodes, int32(n)), append(k.odds, o.byNode[n])
		}
	}
}

// restore adds the saved odds. The caller must call clear before.
func (o *nodeOdds) restore() {
	o.maxTotal = o.saved.maxTotal
	for i, n := range o.saved.nodes {
		o.add(cluster.NodeID(n), o.saved.odds[i])
	}
}
