package cluster

import (
	"time"
)

// UsageQuality describes how reliable the usage of a pod is. A higher value is more reliable.
type UsageQuality uint8

const (
	// Unknown means that the source did not measure the pod.
	Unknown UsageQuality = iota
	// BoundAfterSample means that the pod was bound after the last sample of its node, so its usage
	// is assumed.
	BoundAfterSample
	// Estimated means that the source measures only nodes. The usage of the pod is a share of its
	// node's usage, in proportion to requests.
	Estimated
	// Measured means that the source measured the pod.
	Measured
)

// ResolvedUsage contains the usage of each node and pod, updated from the time of the samples to
// the time of the snapshot:
//
//   - If a measured pod has left its node, the node's usage is reduced by the part of the pod's usage
//     that the node's statistic includes.
//   - If a measured pod arrived recently, the part of its usage that the statistic lacks is added.
//   - If a pod was bound after its node was measured, or less than a minute before, its assumed usage
//     is added. The assumed usage is the mean of the measured pods of its workload. If there is no
//     such pod, it is the request that scores use (100m and 200Mi for a container without requests).
//
// If a pod's newest sample is much older than the newest sample of its node, the usage of the pod is
// unknown.
//
// The ratios of pods of resources other than cpu and memory need not add up to that of their node. For example,
// several pods can wait for cpu at the same time. If they exceed it together, each pod frees only its share of the
// node's ratio.
//
// If the newest measurement of a node differs from the statistic, the higher value counts, and the
// difference is uncertain. The usage of a pod that left is also uncertain while a rate still
// includes part of it.
//
// Negative amounts, and amounts far above the capacity of the node, count as unknown, whatever source the usage came
// from. If a node is listed twice, its usage is unknown.
type ResolvedUsage struct {
	Raw          *Usage
	windowFilled []time.Duration // by node: how much of the window its samples cover
	resources    []string
	byResource   map[string]*resourceUse
	measuredAt   []time.Time // by node; zero: not measured
}

// resourceUse is the usage of one resource.
type resourceUse struct {
	used    []int64 // by node, including assumed usage; unknownAmount if it is unknown
	assumed []int64 // by node, the assumed part of used
	// These slices are indexed by node. newest is the newest measurement, or unknownAmount if the
	// statistic is enough. lag and newestLag are the parts of used and newest that a rate may still
	// include for pods that left. uncertain is the part of used that may belong to pods
	// that have already left.
	newest, lag, newestLag, uncertain []int64
	quality                           []UsageQuality
	podUsed                           []int64 // by pod: measured, estimated or assumed usage
	// podFrees is by pod what its leaving certainly frees on its node. Nil means podUsed.
	podFrees []int64
	// measuresPods is true if the resource of any pod was measured or estimated.
	measuresPods bool
}

const unknownAmount = int64(-1)

// MaxPlausibleFrac is the maximum plausible share of a whole, such as of the capacity of a node. A
// share should not exceed 1. However, rates are extrapolated to the ends of their window: with a
// scrape interval of 60 s and a window of 2 min, a rate can be a few percent too high. CPU
// accounting and measurement also use different ticks. A margin of 25 % covers both.
const MaxPlausibleFrac = 1.25

// isPlausible reports whether a node with that capacity can use the amount. Without a known capacity, the amount need
// only be one that a machine can have.
func isPlausible(capacity *Resources, resource string, amount int64) bool {
	most := maxAmount
	switch whole := capacity.Get(resource); {
	case resource != "cpu" && resource != "memory": // a fraction of the node, in millionths
		most = int64(MaxPlausibleFrac * 1e6)
	case whole > 0:
		most = min(most, int64(MaxPlausibleFrac*float64(whole)))
	}
	return amount >= 0 && amount <= most
}

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

// resource returns the usage of a resource, or nil if the resource was not measured.
func (r *ResolvedUsage) resource(resource string) *resourceUse {
	if r == nil {
		return nil
	}
	return r.byResource[resource]
}

// NodeUsed returns a node's usage of a resource at the time of the snapshot, and its assumed part.
// known is false if the usage is unknown.
func (r *ResolvedUsage) NodeUsed(n NodeID, resource string) (used, assumed int64, known bool) {
	if u := r.resource(resource); u != nil && u.used[n] != unknownAmount {
		return u.used[n], u.assumed[n], true
	}
	return 0, 0, false
}

// Uncertain returns the part of a node's usage that may belong to pods that left before this process
// started. Samples from the source's history still include such pods.
func (r *ResolvedUsage) Uncertain(n NodeID, resource string) int64 {
	if u := r.resource(resource); u != nil {
		return u.uncertain[n]
	}
	return 0
}

// PodFrees returns what the eviction of a pod certainly frees on its node, if its usage is Estimated or Measured.
func (r *ResolvedUsage) PodFrees(p PodID, resource string) int64 {
	switch u := r.resource(resource); {
	case u == nil:
		return 0
	case u.podFrees != nil:
		return u.podFrees[p]
	default:
		return u.podUsed[p]
	}
}

// MeasuresPods reports whether the source measured the resource of any pod.
func (r *ResolvedUsage) MeasuresPods(resource string) bool {
	u := r.resource(resource)
	return u != nil && u.measuresPods
}

// PodUsed returns a pod's usage of a resource, and how reliable the value is.
func (r *ResolvedUsage) PodUsed(p PodID, resource string) (int64, UsageQuality) {
	if u := r.resource(resource); u != nil {
		return u.podUsed[p], u.quality[p]
	}
	return 0, Unknown
}
