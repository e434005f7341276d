package filter

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Fits reports whether a pod with these requests fits on the node, next to `pods` pods that use
// `used`. Nil requests always fit: the filter NodeResourcesFit is then disabled.
func Fits(node *cluster.Node, requests, used *cluster.Resources, pods int64) bool {
	if requests == nil {
		return true
	}
	if missingBasicResource(node, requests, used, pods) != "" {
		return false
	}
	for name, amount := range requests.Extended {
		if amount > 0 && amount > node.Allocatable.Extended[name]-used.Extended[name] {
			return false
		}
	}
	return true
}

// missingResource returns the first resource for which a pod does not fit on the node; empty if the
// pod fits.
func missingResource(node *cluster.Node, requests, used *cluster.Resources, pods int64) string {
	if name := missingBasicResource(node, requests, used, pods); name != "" {
		return name
	}
	var short []string
	for name, amount := range requests.Extended {
		if amount > 0 && amount > node.Allocatable.Extended[name]-used.Extended[name] {
			short = append(short, string(name))
		}
	}
	if len(short) == 0 {
		return ""
	}
	return slices.Min(short)
}

// missingBasicResource is missingResource without extended resources.
func missingBasicResource(node *cluster.Node, requests, used *cluster.Resources, pods int64) string {
	r, a := requests, &node.Allocatable
	switch {
	case pods+1 > node.AllowedPods:
		return "pod capacity"
	case r.MilliCPU > 0 && r.MilliCPU > a.MilliCPU-used.MilliCPU:
		return "cpu"
	case r.MemoryBytes > 0 && r.MemoryBytes > a.MemoryBytes-used.MemoryBytes:
		return "memory"
	case r.EphemeralStorageByte > 0 && r.EphemeralStorageByte > a.EphemeralStorageByte-used.EphemeralStorageByte:
		return "ephemeral-storage"
	}
	return ""
}
