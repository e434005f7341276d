package filter

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/model"
)

// HasRoomFor reports whether the node has room for the requests, next to `pods` pods
// that use `held` resources. It returns true if asked is nil.
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

// missingResource returns the first resource that the node has too little of; empty if
// there is none.
func missingResource(m *model.Cluster, r *cluster.Resources, n int) string {
	l, node := &m.Requests[n], &m.Snap.Nodes[n]
	a := &node.Allocatable
	switch {
	case l.Pods+1 > node.AllowedPods:
		return "pod capacity"
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

// HasResources reports whether the node has room for the requests. It returns true if r
// is nil: the filter NodeResourcesFit is then disabled.
func HasResources(m *model.Cluster, r *cluster.Resources, n int) bool {
	if r == nil {
		return true
	}
	l, node := &m.Requests[n], &m.Snap.Nodes[n]
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
