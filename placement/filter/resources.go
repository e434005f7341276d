package filter

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
	"slices"
)

// HasRoomFor reports whether a node has room for what is asked; nil: nothing is.
func HasRoomFor(n *cluster.Node, asked, held *cluster.Resources, pods int64) bool {
	if asked == nil {
		return true
	}
	if pods+1 > n.AllowedPods {
		return false
	}
	if asked.MilliCPU > 0 && held.MilliCPU+asked.MilliCPU > n.Allocatable.MilliCPU ||
		asked.MemoryBytes > 0 && held.MemoryBytes+asked.MemoryBytes > n.Allocatable.MemoryBytes ||
		asked.EphemeralStorageByte > 0 && held.EphemeralStorageByte+asked.EphemeralStorageByte > n.Allocatable.EphemeralStorageByte {
		return false
	}
	for name, size := range asked.Extended {
		if size > 0 && held.Extended[name]+size > n.Allocatable.Extended[name] {
			return false
		}
	}
	return true
}

// missingResource names the first resource of which the node has too little.
func missingResource(w *model.Cluster, r *cluster.Resources, n int) string {
	l, node := &w.Requests[n], &w.Snap.Nodes[n]
	a := &node.Allocatable
	switch {
	case l.Pods+1 > node.AllowedPods:
		return "room for pods"
	case r.MilliCPU > 0 && r.MilliCPU > a.MilliCPU-l.MilliCPU:
		return "cpu"
	case r.MemoryBytes > 0 && r.MemoryBytes > a.MemoryBytes-l.MemoryBytes:
		return "memory"
	case r.EphemeralStorageByte > 0 && r.EphemeralStorageByte > a.EphemeralStorageByte-l.EphemeralBytes:
		return "ephemeral-storage"
	}
	var short []string
	for name, amount := range r.Extended {
		if amount > 0 && amount > a.Extended[name]-l.Extended[name] {
			short = append(short, string(name))
		}
	}
	if len(short) == 0 {
		return ""
	}
	return slices.Min(short)
}

// HasResources reports whether the node lacks nothing that is requested; nil requests
// nothing, not even room for a pod.
func HasResources(w *model.Cluster, r *cluster.Resources, n int) bool {
	if r == nil {
		return true
	}
	l, node := &w.Requests[n], &w.Snap.Nodes[n]
	a := &node.Allocatable
	if l.Pods+1 > node.AllowedPods ||
		r.MilliCPU > 0 && r.MilliCPU > a.MilliCPU-l.MilliCPU ||
		r.MemoryBytes > 0 && r.MemoryBytes > a.MemoryBytes-l.MemoryBytes ||
		r.EphemeralStorageByte > 0 && r.EphemeralStorageByte > a.EphemeralStorageByte-l.EphemeralBytes {
		return false
	}
	for name, amount := range r.Extended {
		if amount > 0 && amount > a.Extended[name]-l.Extended[name] {
			return false
		}
	}
	return true
}
