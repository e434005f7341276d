package placement

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// counter counts the pods of some classes on each node. It lists only nodes that
// have any, since most classes are on few: thousands of counters over thousands
// of nodes stay small, and who reads one reads a few entries.
type counter struct {
	piles []pile // by rising node; none is empty
	total int64
}

// pile is how many pods of a counter are on a node.
type pile struct {
	node cluster.NodeID
	pods int32
}

// add counts so many more pods on the node: O(log k) for k nodes with pods, and
// O(k) when a node gets its first or loses its last.
func (c *counter) add(n cluster.NodeID, by int32) {
	i, found := c.find(n)
	switch {
	case !found:
		if by != 0 {
			c.piles = slices.Insert(c.piles, i, pile{n, by})
		}
	case c.piles[i].pods+by == 0:
		c.piles = slices.Delete(c.piles, i, i+1)
	default:
		c.piles[i].pods += by
	}
}

// on is how many pods are on the node.
func (c *counter) on(n cluster.NodeID) int32 {
	if i, found := c.find(n); found {
		return c.piles[i].pods
	}
	return 0
}

// find returns where the node's pile is, or would be.
func (c *counter) find(n cluster.NodeID) (at int, found bool) {
	low, high := 0, len(c.piles)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if c.piles[mid].node < n {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(c.piles) && c.piles[low].node == n
}
