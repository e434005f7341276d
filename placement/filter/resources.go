package filter

import "github.com/evenkeel-project/evenkeel/cluster"

// Fits reports whether a pod with these requests fits on the node, next to `pods` pods that use
// `used`. Nil requests always fit: the filter NodeResourcesFit is then disabled.
func Fits(node *cluster.Node, requests, used *cluster.Resources, pods int64) bool {
	return requests == nil || missingResource(node, requests, used, pods) == ""
}

// missingResource returns the first resource for which a pod does not fit on the node; empty if the
// pod fits. Of several extended resources, it returns the first by name.
func missingResource(node *cluster.Node, requests, used *cluster.Resources, pods int64) string {
	r, a, missing := requests, &node.Allocatable, ""
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
	for name, amount := range requests.Extended {
		if amount > 0 && amount > a.Extended[name]-used.Extended[name] && (missing == "" || string(name) < missing) {
			missing = string(name)
		}
	}
	return missing
}
