package cluster

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	// SampledAt is the time of the newest sample. Samples counts the samples in the window.
	SampledAt time.Time   `json:"sampledAt"`
	Samples   int         `json:"samples"`
	Nodes     []NodeUsage `json:"nodes"`
	Pods      []PodUsage  `json:"pods"`
	// Marks lists the nodes whose usage exceeds a watched level, and for how many samples.
	Marks []Mark `json:"marks,omitempty"`
	// RateSeconds is the period over which the source averages cpu. After a pod leaves, the
	// measured cpu usage drops gradually over this period. With 0, the usage drops at once.
	RateSeconds float64 `json:"rateSeconds,omitempty"`
	// NodesOnly means that the source measures only nodes, so the usage of pods is estimated. If
	// NodesOnly is false, the usage of a pod that is not listed is unknown.
	NodesOnly bool `json:"nodesOnly,omitempty"`
	// Problems describes unusable responses of the source. Their number and length are limited.
	Problems []string `json:"problems,omitempty"`
}

// NodeUsage is the usage of one node. The usage of a node that is not listed, or of a resource that
// is not in Used, is unknown.
type NodeUsage struct {
	Name string `json:"name"`
	// At is the time at which cpu and memory were measured, the older one if the times differ. If
	// neither was measured, At is the oldest time of the other resources.
	At time.Time `json:"at"`
	// Used maps resources to amounts: cpu in milliCPU, memory and memory.available in bytes. The key
	// "rule:NAME" holds the value of a hint rule, in millionths of the rule's unit. Any other
	// resource is a fraction of the node, in millionths.
	Used map[string]int64 `json:"used"`
	// Newest is the newest measurement. It is set if the window includes samples from the source's
	// history and Newest differs from Used. The samples may include pods that left before this
	// process started, so the real usage lies between Newest and Used. The planner uses the lower
	// value to decide which pods must leave, and the higher value to decide which pods may arrive.
	Newest map[string]int64 `json:"newest,omitempty"`
	// SpanSeconds is the part of the window that the samples cover, in seconds. 0 means the whole
	// window. In a new process and for a new node, the samples cover only part of the window.
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
	// At is the time of the pod's newest sample. Zero means the time of the node's sample. A pod
	// that has left stays listed while the window contains samples of the pod.
	At   time.Time        `json:"at,omitzero"`
	Used map[string]int64 `json:"used"`
	// Estimated means that the source measures only nodes. Used is then the pod's share of the
	// node's usage, in proportion to requests.
	Estimated bool `json:"estimated,omitempty"`
}

// Mark records how long the usage of a node has exceeded a watched level. Strategies with a `for`
// setting and hint rules watch levels.
type Mark struct {
	// Watch names the strategy or rule.
	Watch    string `json:"watch"`
	Node     string `json:"node"`
	Resource string `json:"resource"`
	// Hot becomes true when the required number of consecutive samples exceed the enter level. It
	// becomes false when the node reaches the leave level.
	Hot bool `json:"hot"`
	// Samples counts the consecutive samples that exceed the enter level, up to Required.
	Samples int `json:"samples"`
	// Required is the number of consecutive samples that make a node hot.
	Required int `json:"of"`
	// Value is the newest measurement in the unit of the level, for example a fraction of the
	// allocatable cpu. 0 means that the source did not report a value.
	Value float64 `json:"value,omitempty"`
	// Since is the time of the first of the consecutive samples.
	Since time.Time `json:"since"`
	// At is the time at which Value was measured. Zero means the time of the node's newest sample.
	At time.Time `json:"at,omitzero"`
	// CountRestarted means that this process restarted the count, so earlier samples are unknown.
	CountRestarted bool `json:"fresh,omitempty"`
}

// Names of measured resources other than cpu, memory and ratios of a whole node.
const (
	// MemoryAvailable is the capacity of a node minus its working set, in bytes. The kubelet has an
	// eviction signal of the same name.
	MemoryAvailable = "memory.available"
	// HintRulePrefix is the prefix of values for hint rules, in millionths of the rule's unit.
	HintRulePrefix = "rule:"
)

// MaxClockSkew is the tolerated difference between clocks. Samples from further in the future are
// rejected, because every later sample would appear older.
const MaxClockSkew = time.Minute

// PhysicalOf returns the cpu and the memory of a node that its pods can really use: allocatable, but no more than
// capacity. Programs that overcommit a node raise its allocatable above its capacity. Extended resources do not
// belong to it, because nothing measures how much of them is in use; neither do requests, which the scheduler compares
// with allocatable.
func PhysicalOf(allocatable, capacity Resources) (r Resources) {
	atMost := func(amount, most int64) int64 {
		if most <= 0 { // unknown
			return amount
		}
		return min(amount, most)
	}
	r.MilliCPU = atMost(allocatable.MilliCPU, capacity.MilliCPU)
	r.MemoryBytes = atMost(allocatable.MemoryBytes, capacity.MemoryBytes)
	return r
}

// UsageDenominator returns the divisor that turns a measured amount into a level: the milliCPU for cpu and the bytes
// for memory of a node (PhysicalOf). It returns 1 for memory.available, whose levels are in bytes, and 1,000,000 for
// fractions in millionths.
func UsageDenominator(physical *Resources, resource string) int64 {
	switch resource {
	case "cpu":
		return physical.MilliCPU
	case "memory":
		return physical.MemoryBytes
	case MemoryAvailable:
		return 1
	}
	return 1_000_000
}

// isShareOfNode reports whether the amounts of pods add up to the amount of the node. The amounts of
// memory.available and of hint rules do not add up.
func isShareOfNode(resource string) bool {
	return resource != MemoryAvailable && !strings.HasPrefix(resource, HintRulePrefix)
}

// usageOfMetrics returns the usage that NodeMetrics and PodMetrics report, as one sample of metrics-server. It returns
// nil without NodeMetrics. Without PodMetrics, the usage of pods is estimated.
func (o *Objects) usageOfMetrics() *Usage {
	if len(o.NodeMetrics) == 0 {
		return nil
	}
	u := &Usage{APIVersion: usageVersion, Kind: usageKind, Source: "metricsServer", Statistic: "latest", Samples: 1,
		NodesOnly: len(o.PodMetrics) == 0}
	u.Nodes = o.NodeUsageOfMetrics()
	for _, n := range u.Nodes {
		if n.At.After(u.SampledAt) {
			u.SampledAt = n.At
		}
	}
	for _, m := range o.NodeMetrics {
		u.WindowSeconds = max(u.WindowSeconds, m.Window.Seconds())
	}
	u.RateSeconds = u.WindowSeconds
	pods := map[[2]string]*corev1.Pod{}
	for _, p := range o.Pods {
		pods[[2]string{p.Namespace, p.Name}] = p
	}
	for _, m := range sortedByName(o.PodMetrics) {
		p := pods[[2]string{m.Namespace, m.Name}]
		if p == nil {
			continue // the pod has left
		}
		lists := make([]corev1.ResourceList, len(m.Containers))
		for i := range m.Containers {
			lists[i] = m.Containers[i].Usage
		}
		u.Pods = append(u.Pods, PodUsage{Namespace: m.Namespace, Name: m.Name, UID: string(p.UID), Node: p.Spec.NodeName,
			At: m.Timestamp.UTC(), Used: measuredAmounts(lists...)})
	}
	return u
}

// NodeUsageOfMetrics returns the usage that NodeMetrics report, sorted by name.
func (o *Objects) NodeUsageOfMetrics() (out []NodeUsage) {
	for _, m := range sortedByName(o.NodeMetrics) {
		out = append(out, NodeUsage{Name: m.Name, At: m.Timestamp.UTC(), Used: measuredAmounts(m.Usage)})
	}
	return out
}

// measuredAmounts adds the cpu and the memory of the lists, in milliCPU and bytes.
func measuredAmounts(lists ...corev1.ResourceList) map[string]int64 {
	used := map[string]int64{}
	for _, list := range lists {
		if q, ok := list[corev1.ResourceCPU]; ok {
			used["cpu"] += q.MilliValue()
		}
		if q, ok := list[corev1.ResourceMemory]; ok {
			used["memory"] += q.Value()
		}
	}
	return used
}
