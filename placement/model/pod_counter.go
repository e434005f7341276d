package model

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// PodCounter counts the pods of some equivalence classes on each node. The counter lists only nodes
// with counted pods. The pods of most classes run on few nodes, so a counter lists few nodes and
// needs little memory.
type PodCounter struct {
	Nodes []PodsOnNode // sorted by node; no entry has 0 pods
	Total int64
}

// PodsOnNode is the number of counted pods on one node.
type PodsOnNode struct {
	Node cluster.NodeID
	Pods int32
}

// Add adds `by` pods to the node. The time is O(log k) for k nodes with pods, and O(k) when a node
// gets its first pod or loses its last.
func (c *PodCounter) Add(n cluster.NodeID, by int32) {
	i, found := c.find(n)
	switch {
	case !found:
		if by != 0 {
			c.Nodes = slices.Insert(c.Nodes, i, PodsOnNode{n, by})
		}
	case c.Nodes[i].Pods+by == 0:
		c.Nodes = slices.Delete(c.Nodes, i, i+1)
	default:
		c.Nodes[i].Pods += by
	}
}

// Count
func (c *PodCounter) CountOn(n cluster.NodeID) int32 {
	if i, found := c.find(n); found {
		return c.Nodes[i].Pods
	}
	return 0
}

// find returns the node's index in Nodes, or the index at which to insert the node.
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
