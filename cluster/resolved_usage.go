package cluster

import "time"

// UsageQuality says how the usage of a pod is known.
type UsageQuality uint8

const (
	// Unknown means that the pod was not measured.
	Unknown UsageQuality = iota
	// BoundAfterSample means that the pod was bound after its node was measured. Its usage is
	// assumed.
	BoundAfterSample
	// Estimated means that the source measures nodes only. The value is the pod's share by
	// requests.
	Estimated
	// Measured means that the source measured the pod.
	Measured
)

// ResolvedUsage is a Usage by node and pod, updated from the time of its samples to the time of
// the snapshot:
//
//   - If a measured pod has left its node, its usage is subtracted, as far as the node's statistic
//     includes it. If a measured pod arrived recently, the part that the statistic lacks is added.
//   - If a pod was bound after its node was measured, or too shortly before to be measured itself,
//     its assumed usage is added. That is the mean of the other pods of its workload. If none of
//     them is known, it is the pod's requests as scores count them (100m and 200Mi for a container
//     without requests).
//
// If a pod's newest sample is much older than its node's, the pod is unknown.
//
// If a Usage gives a newest measurement besides the statistic, the higher of the two counts,
// and the difference is uncertain. The usage of a pod that left is also uncertain while a rate
// still includes part of it.
//
// A negative amount, or one that no machine can have, is unknown. So is a node that is listed
// twice, and a resource that the Usage does not name.
type ResolvedUsage struct {
	Raw          *Usage
	windowFilled []time.Duration // by node: how much of the window its samples cover
	resources    []string
	byResource   map[string]*resourceUse
	measuredAt   []time.Time // by node; zero: not measured
}

// resourceUse is the usage of one resource.
type resourceUse struct {
	used    []int64 // by node, assumed usage included; unknownAmount: unknown
	assumed []int64 // by node, the assumed part of used
	// Indexed by node. newest is the newest measurement if it limits used, else unknownAmount.
	// lag and newestLag are how much of used and newest a rate may still include for pods that
	// left. uncertain is how much of used may have left without being seen.
	newest, lag, newestLag, uncertain []int64
	quality                           []UsageQuality
	podUsed                           []int64 // by pod: measured, estimated or assumed usage
}

const unknownAmount = int64(-1)

// maxPlausibleUsage is more than any machine has, in milliCPU or bytes (1Pi).
const maxPlausibleUsage = int64(1) << 50

func isPlausible(n int64) bool { return n >= 0 && n <= maxPlausibleUsage }

// Resources returns the names of the measured resources, sorted.
func (r *ResolvedUsage) Resources() []string {
	if r == nil {
		return nil
	}
	return r.resources
}

// MeasuredAt returns when the node was measured, or the zero time if it was not.
func (r *ResolvedUsage) MeasuredAt(n NodeID) time.Time {
	if r == nil {
		return time.Time{}
	}
	return r.measuredAt[n]
}

// of returns the usage of a resource, or nil if the resource was not measured.
func (r *ResolvedUsage) of(resource string) *resourceUse {
	if r == nil {
		return nil
	}
	return r.byResource[resource]
}

// NodeUsed returns a node's usage of a resource at the time of the snapshot, and the assumed
// part of it. known is false if the usage is unknown.
func (r *ResolvedUsage) NodeUsed(n NodeID, resource string) (used, probable int64, known bool) {
	if u := r.of(resource); u != nil && u.used[n] != unknownAmount {
		return u.used[n], u.assumed[n], true
	}
	return 0, 0, false
}

// Uncertain returns how much of a node's usage may have left with pods that were never listed.
// A window with samples from the source's history still includes them.
func (r *ResolvedUsage) Uncertain(n NodeID, resource string) int64 {
	if u := r.of(resource); u != nil {
		return u.uncertain[n]
	}
	return 0
}

// PodUsed returns a pod's usage of a resource, and how it is known.
func (r *ResolvedUsage) PodUsed(p PodID, resource string) (int64, UsageQuality) {
	if u := r.of(resource); u != nil {
		return u.podUsed[p], u.quality[p]
	}
	return 0, Unknown
}
