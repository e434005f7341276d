package cluster

import "time"

// Usage is what nodes and pods really use, as windows over the samples of a load
// source aggregated it. It is a kind of our own in a snapshot.
type Usage struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Source is metricsServer, prometheus or loadWatcher.
	Source string `json:"source"`
	// Statistic is what was taken of the samples in Window: latest, mean, p90, p95,
	// max or std.
	Statistic     string  `json:"statistic"`
	WindowSeconds float64 `json:"windowSeconds"`
	// SampledAt is the time of the newest sample; Samples is how many there are in
	// the window.
	SampledAt time.Time   `json:"sampledAt"`
	Samples   int         `json:"samples"`
	Nodes     []NodeUsage `json:"nodes"`
	Pods      []PodUsage  `json:"pods"`
	// Marks say which nodes have been above a level, and for how many samples.
	Marks []Mark `json:"marks,omitempty"`
	// RateSeconds is over how long a measurement of cpu is itself a mean: it falls only
	// bit by bit when a pod leaves. 0: it does at once.
	RateSeconds float64 `json:"rateSeconds,omitempty"`
	// NodesOnly says that the source knows nothing of pods; what they use is then
	// estimated. Otherwise a pod that is not listed is unknown.
	NodesOnly bool `json:"nodesOnly,omitempty"`
	// Problems are bad answers of the source, in words, bounded.
	Problems []string `json:"problems,omitempty"`
}

// NodeUsage is one node's. A node that is not listed, or a resource that is not in
// Used, is unknown.
type NodeUsage struct {
	Name string `json:"name"`
	// At is when cpu and memory were measured last, the older of the two; without
	// them, the oldest of the rest.
	At time.Time `json:"at"`
	// Used is by resource: cpu in milliCPU, memory and memory.available in bytes; what
	// a rule of a hint asks for, named rule: and the rule, in millionths of its own
	// unit; anything else is a ratio of the whole node, in millionths.
	Used map[string]int64 `json:"used"`
	// Newest is the newest measurement where Used may hold pods that left before the
	// process that measures began, and are not listed: the window then reaches back to
	// what the source remembered. It is left out where it is the same. Between the two
	// nobody knows: the lower counts for what has to leave, the higher for what may
	// come.
	Newest map[string]int64 `json:"newest,omitempty"`
	// SpanSeconds is how much of the window its samples fill: less in a new process,
	// and for a new node. 0: all of it.
	SpanSeconds float64 `json:"spanSeconds,omitempty"`
	// Deviation is the standard deviation over the window, in the same units.
	Deviation map[string]int64 `json:"deviation,omitempty"`
}

// PodUsage is one pod's.
type PodUsage struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// UID is empty where the source does not know it.
	UID string `json:"uid,omitempty"`
	// Node is where the pod stood when the sample was taken.
	Node string `json:"node"`
	// At is the time of its newest sample; zero: that of its node. A pod that has left
	// stays listed as long as samples with it are in the window.
	At   time.Time        `json:"at,omitzero"`
	Used map[string]int64 `json:"used"`
	// Estimated says that the source knows nodes only: the pod's part of its node's
	// usage, by requests.
	Estimated bool `json:"estimated,omitempty"`
}

// Mark is where a node stands about one level that somebody watches: a strategy
// with `for`, or a rule of a hint.
type Mark struct {
	// Watch names the strategy or rule.
	Watch    string `json:"watch"`
	Node     string `json:"node"`
	Resource string `json:"resource"`
	// Hot nodes have been above the level for as many consecutive samples as the
	// watch wants, and not yet at or below the level at which it leaves.
	Hot bool `json:"hot"`
	// Samples counts the consecutive samples above the level at which it enters,
	// as far as counted: not more than the watch wants.
	Samples int `json:"samples"`
	// Required is how many the watch wants.
	Required int `json:"of"`
	// Value is the newest measurement, in the units of the level: a fraction of
	// allocatable for cpu and memory. 0: it is not told.
	Value float64 `json:"value,omitempty"`
	// Since is the first of the consecutive samples.
	Since time.Time `json:"since"`
	// At is when Value was measured, which can be before the node's newest sample of
	// another resource; zero: then.
	At time.Time `json:"at,omitzero"`
	// CountRestarted says that counting began anew, with the process: nothing before is known.
	CountRestarted bool `json:"fresh,omitempty"`
}
