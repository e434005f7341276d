package model

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// PodCounter counts the pods of some classes on each node. It lists only nodes that
// have any, since most classes are on few: thousands of counters over thousands
// of nodes stay small, and who reads one reads a few entries.
type PodCounter struct {
	Nodes []NodeCount // by rising node; none is empty
	Total int64
}

// NodeCount is how many pods of a counter are on a node.
type NodeCount struct {
	Node cluster.NodeID
	Pods int32
}

// Add counts so many more pods on the node: O(log k) for k nodes with pods, and
// O(k) when a node gets its first or loses its last.
func (c *PodCounter) Add(n cluster.NodeID, by int32) {
	i, found := c.find(n)
	switch {
	case !found:
		if by != 0 {
			c.Nodes = slices.Insert(c.Nodes, i, NodeCount{n, by})
		}
	case c.Nodes[i].Pods+by == 0:
		c.Nodes = slices.Delete(c.Nodes, i, i+1)
	default:
		c.Nodes[i].Pods += by
	}
}

// On is how many pods are on the node.
func (c *PodCounter) On(n cluster.NodeID) int32 {
	if i, found := c.find(n); found {
		return c.Nodes[i].Pods
	}
	return 0
}

// find returns where the node's pile is, or would be.
func (c *PodCounter) find(n cluster.NodeID) (at int, found bool) {
	low, high := 0, len(c.Nodes)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if c.Nodes[mid].Node < n {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(c.Nodes) && c.Nodes[low].Node == n
}
