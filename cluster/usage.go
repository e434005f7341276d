package cluster

import (
	"strings"
	"time"
)

// Usage is the measured usage of nodes and pods: statistics over windows of samples from one
// source. It is stored in a snapshot as a kind that Evenkeel defines.
type Usage struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Source is metricsServer, prometheus or loadWatcher.
	Source string `json:"source"`
	// Statistic is the statistic over the samples in the window: latest, mean, p90, p95, max or
	// std.
	Statistic     string  `json:"statistic"`
	WindowSeconds float64 `json:"windowSeconds"`
	// SampledAt is the time of the newest sample. Samples is the number of samples in the
	// window.
	SampledAt time.Time   `json:"sampledAt"`
	Samples   int         `json:"samples"`
	Nodes     []NodeUsage `json:"nodes"`
	Pods      []PodUsage  `json:"pods"`
	// Marks say which nodes are beyond a watched level, and for how many samples.
	Marks []Mark `json:"marks,omitempty"`
	// RateSeconds is the period over which the source averages cpu. After a pod leaves, a
	// measurement drops gradually over this period. With 0, it drops at once.
	RateSeconds float64 `json:"rateSeconds,omitempty"`
	// NodesOnly says that the source measures nodes only, so the usage of pods is estimated. If
	// it is false, a pod that is not listed is unknown.
	NodesOnly bool `json:"nodesOnly,omitempty"`
	// Problems describe bad answers of the source. Their number and length are limited.
	Problems []string `json:"problems,omitempty"`
}

// NodeUsage is the usage of one node. A node that is not listed is unknown, and so is a
// resource that is not in Used.
type NodeUsage struct {
	Name string `json:"name"`
	// At is the older of the times at which cpu and memory were last measured. If neither was
	// measured, it is the oldest time of the other resources.
	At time.Time `json:"at"`
	// Used maps resources to amounts: cpu in milliCPU, memory and memory.available in bytes.
	// The value for a hint rule is named "rule:" plus the rule, in millionths of the rule's
	// unit. Any other resource is a ratio of the whole node, in millionths.
	Used map[string]int64 `json:"used"`
	// Newest is the newest measurement. It is set if the window includes samples from the
	// source's history and the value differs from Used. Pods that left before this process
	// started are not listed, but Used may still include them. The real usage lies between the
	// two values. The lower one counts for pods that have to leave, the higher one for pods
	// that may arrive.
	Newest map[string]int64 `json:"newest,omitempty"`
	// SpanSeconds is how much of the window the samples cover. It is shorter in a new process
	// and for a new node. 0 means all of it.
	SpanSeconds float64 `json:"spanSeconds,omitempty"`
	// Deviation is the standard deviation over the window, in the same units.
	Deviation map[string]int64 `json:"deviation,omitempty"`
}

// PodUsage is the usage of one pod.
type PodUsage struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// UID is empty if the source does not report it.
	UID string `json:"uid,omitempty"`
	// Node is the pod's node when the sample was taken.
	Node string `json:"node"`
	// At is the time of the pod's newest sample. Zero means the time of its node. A pod that
	// left stays listed while the window contains samples of it.
	At   time.Time        `json:"at,omitzero"`
	Used map[string]int64 `json:"used"`
	// Estimated says that the source measures nodes only. The value is the pod's share of its
	// node's usage, divided by requests.
	Estimated bool `json:"estimated,omitempty"`
}

// Mark is the state of a node relative to one watched level. Strategies with `for` and hint
// rules watch levels.
type Mark struct {
	// Watch names the strategy or rule.
	Watch    string `json:"watch"`
	Node     string `json:"node"`
	Resource string `json:"resource"`
	// Hot is set after the node was beyond the enter level for the required number of
	// consecutive samples. It is cleared when the node reaches the leave level.
	Hot bool `json:"hot"`
	// Samples counts the consecutive samples beyond the enter level, up to the required number.
	Samples int `json:"samples"`
	// Required is the number of consecutive samples that make a node hot.
	Required int `json:"of"`
	// Value is the newest measurement in the unit of the level: for cpu and memory, a fraction
	// of allocatable. 0 means not reported.
	Value float64 `json:"value,omitempty"`
	// Since is the time of the first of the consecutive samples.
	Since time.Time `json:"since"`
	// At is when Value was measured. The node may have a newer sample of another resource. Zero
	// means the time of the node's newest sample.
	At time.Time `json:"at,omitzero"`
	// CountRestarted says that counting started again with this process, so the state before is
	// unknown.
	CountRestarted bool `json:"fresh,omitempty"`
}

// Names of measured resources other than cpu, memory and ratios of a whole node.
const (
	// MemoryAvailable is the memory that a node has left, as in the kubelet's eviction signal
	// of that name: capacity minus working set, in bytes.
	MemoryAvailable = "memory.available"
	// HintRulePrefix starts the names of values measured for hint rules. The values are in the
	// unit of the rule, in millionths.
	HintRulePrefix = "rule:"
)

// MaxClockSkew is the tolerated difference between clocks. A sample that claims to be newer
// than that is rejected: it would outdate all samples until its time is reached.
const MaxClockSkew = time.Minute

// UsageDenominator returns the whole that a measured amount is divided by to get a ratio: all
// cpu in milliCPU, all memory in bytes. It is 1 for memory.available, which is compared in
// bytes, and 1,000,000 for ratios in millionths.
func UsageDenominator(there *Resources, resource string) int64 {
	switch resource {
	case "cpu":
		return there.MilliCPU
	case "memory":
		return there.MemoryBytes
	case MemoryAvailable:
		return 1
	}
	return 1_000_000
}

// isShareOfNode reports whether a resource measures use of the node. memory.available measures
// what is left, and the meaning of a hint rule's value is known only to the rule.
func isShareOfNode(resource string) bool {
	return resource != MemoryAvailable && !strings.HasPrefix(resource, HintRulePrefix)
}
