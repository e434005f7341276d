package cluster

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Get returns the amount of the named resource: milliCPU for cpu, bytes for memory and
// ephemeral-storage, units for all other resources.
func (r Resources) Get(name string) int64 {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU:
		return r.MilliCPU
	case corev1.ResourceMemory:
		return r.MemoryBytes
	case corev1.ResourceEphemeralStorage:
		return r.EphemeralStorageByte
	}
	return r.Extended[corev1.ResourceName(name)]
}

// Names returns cpu, memory, ephemeral-storage and the extended resources, sorted.
func (r Resources) Names() []string {
	names := []string{string(corev1.ResourceCPU), string(corev1.ResourceEphemeralStorage), string(corev1.ResourceMemory)}
	for name := range r.Extended {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// Add adds o to r.
func (r *Resources) Add(o Resources) { r.add(o, 1) }

// Sub subtracts o from r.
func (r *Resources) Sub(o Resources) { r.add(o, -1) }

func (r *Resources) add(o Resources, sign int64) {
	r.MilliCPU += sign * o.MilliCPU
	r.MemoryBytes += sign * o.MemoryBytes
	r.EphemeralStorageByte += sign * o.EphemeralStorageByte
	for name, n := range o.Extended {
		if r.Extended == nil {
			r.Extended = map[corev1.ResourceName]int64{}
		}
		r.Extended[name] += sign * n
	}
}

// Clone returns a copy that shares nothing with r.
func (r Resources) Clone() Resources {
	r.Extended = maps.Clone(r.Extended)
	return r
}

// ResourcesOf converts a native resource list. It leaves out the pod count.
func ResourcesOf(list corev1.ResourceList) Resources {
	var r Resources
	for name, q := range list {
		switch name {
		case corev1.ResourceCPU:
			r.MilliCPU = q.MilliValue()
		case corev1.ResourceMemory:
			r.MemoryBytes = q.Value()
		case corev1.ResourceEphemeralStorage:
			r.EphemeralStorageByte = q.Value()
		case corev1.ResourcePods:
		default:
			if r.Extended == nil {
				r.Extended = map[corev1.ResourceName]int64{}
			}
			r.Extended[name] = q.Value()
		}
	}
	return r
}
