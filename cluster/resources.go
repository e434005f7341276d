package cluster

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/apimachinery/pkg/api/resource"
)

// Resources are amounts of compute resources.
type Resources struct {
	MilliCPU             int64
	MemoryBytes          int64
	EphemeralStorageByte int64
	// Extended holds all other resources, such as nvidia.com/gpu and hugepages-2Mi. It may be nil.
	Extended map[corev1.ResourceName]int64
}

// API servers admit any amount up to 2^63-1, from every pod author and every kubelet. Sums of such
// amounts overflow, and a node that is too full would look empty. The largest machines have a few
// thousand CPUs and a few dozen TiB of memory.
const (
	maxCPU    = int64(1e6)
	maxAmount = int64(1) << 50 // 1Pi, for bytes and for counts
	maxSum    = int64(1) << 62
)

// BoundedSum returns the sum of a and b, or the nearest number that a further amount cannot make
// overflow. The amount b is one that ResourcesOf or MilliCPU returned.
func BoundedSum(a, b int64) int64 { return max(-maxSum, min(a+b, maxSum)) }

// MilliCPU returns an amount of CPU in milliCPU, or the nearest amount that a machine can have.
func MilliCPU(q *resourceapi.Quantity) int64 {
	if q.CmpInt64(maxCPU) >= 0 {
		return 1000 * maxCPU
	}
	return max(0, q.MilliValue())
}

// boundedValue returns the value of q, rounded up, or the nearest amount that a machine can have.
func boundedValue(q *resourceapi.Quantity) int64 {
	if q.CmpInt64(maxAmount) >= 0 {
		return maxAmount
	}
	return max(0, q.Value())
}

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

var plainNames = [...]string{string(corev1.ResourceCPU), string(corev1.ResourceEphemeralStorage), string(corev1.ResourceMemory)}

// Names returns cpu, memory, ephemeral-storage and the extended resources, sorted. The caller must not change the list.
func (r *Resources) Names() []string {
	if len(r.Extended) == 0 {
		return plainNames[:]
	}
	names := slices.Clone(plainNames[:])
	for name := range r.Extended {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// Equal reports whether both have the same amount of every resource.
func (r Resources) Equal(o Resources) bool {
	return r.MilliCPU == o.MilliCPU && r.MemoryBytes == o.MemoryBytes && r.EphemeralStorageByte == o.EphemeralStorageByte &&
		maps.Equal(r.Extended, o.Extended)
}

// Add adds o to r.
func (r *Resources) Add(o Resources) { r.AddTimes(1, o) }

// Sub subtracts o from r.
func (r *Resources) Sub(o Resources) { r.AddTimes(-1, o) }

// AddTimes adds o to r, times 1 or -1.
func (r *Resources) AddTimes(sign int64, o Resources) {
	r.MilliCPU = BoundedSum(r.MilliCPU, sign*o.MilliCPU)
	r.MemoryBytes = BoundedSum(r.MemoryBytes, sign*o.MemoryBytes)
	r.EphemeralStorageByte = BoundedSum(r.EphemeralStorageByte, sign*o.EphemeralStorageByte)
	for name, n := range o.Extended {
		if r.Extended == nil {
			r.Extended = map[corev1.ResourceName]int64{}
		}
		r.Extended[name] = BoundedSum(r.Extended[name], sign*n)
	}
}

// Clone returns a copy that shares nothing with r.
func (r Resources) Clone() Resources {
	r.Extended = maps.Clone(r.Extended)
	return r
}

// ResourcesOf converts a native resource list. It leaves out the pod count, and replaces an
// impossible amount by the nearest possible one.
func ResourcesOf(list corev1.ResourceList) Resources {
	var r Resources
	for name, q := range list {
		switch name {
		case corev1.ResourceCPU:
			r.MilliCPU = MilliCPU(&q)
		case corev1.ResourceMemory:
			r.MemoryBytes = boundedValue(&q)
		case corev1.ResourceEphemeralStorage:
			r.EphemeralStorageByte = boundedValue(&q)
		case corev1.ResourcePods:
		default:
			if r.Extended == nil {
				r.Extended = map[corev1.ResourceName]int64{}
			}
			r.Extended[name] = boundedValue(&q)
		}
	}
	return r
}
