// Package usage defines the measured usage of nodes and pods. A Source reads samples from one
// program. A Problem describes an unusable part of an answer.
//
// The package decides what an answer means and whether it is plausible. A missing, stale, non-numeric or
// implausible value is unknown and is reported as a problem. The package never decides which usage is too high.
package usage

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Source reads the current usage of nodes and pods.
type Source interface {
	// Sample reads one sample. nodes are the nodes of the cluster. An error means that there is no usable answer.
	// Unusable parts of an answer are left out of the sample and listed in its problems.
	Sample(ctx context.Context, nodes []Node) (Sample, error)
}

// HistorySource is a source that also knows past usage, so a new process need not count samples from zero.
type HistorySource interface {
	// History returns the samples since a time, oldest first, at most one per step. If History
	// returns both samples and an error, the error says which samples are missing.
	History(ctx context.Context, nodes []Node, since time.Time, step time.Duration) ([]Sample, error)
}

// Node holds the names that answers may use for a node, and the amounts to which ratios refer.
type Node struct {
	Name string
	// UID distinguishes the node from another machine of the same name. Sources do not use it.
	UID string
	// Created is the creation time of the node. Measurements before that time belong to another
	// machine of the same name. Zero means unknown. Sources do not use Created.
	Created time.Time
	// OutOfScope excludes the node from means over nodes. Sources do not use OutOfScope.
	OutOfScope bool
	// NotSelected is true if load.minCoverage does not count the node: it is virtual, or nodeSelector does not select
	// it. Sources do not use NotSelected.
	NotSelected bool
	// InternalIPs are the node's addresses, and Hostname its label kubernetes.io/hostname.
	InternalIPs []string
	Hostname    string
	// Capacity and Allocatable are in milliCPU and bytes.
	Capacity, Allocatable cluster.Resources
}

// Sample holds the plausible parts of one answer.
type Sample struct {
	// Taken is the time of the query.
	Taken time.Time
	// Nodes maps node names to readings. Pods maps namespace/name to readings.
	Nodes map[string]Reading
	Pods  map[string]Reading
	// PodDelay is the maximum time between a pod's measurement and its reported time. PodDelay is set if the
	// source does not report measurement times. A value may then belong to an earlier pod of the same name.
	PodDelay time.Duration
	// FromHistory means that the sample comes from the source's history. Pods that ran at that time
	// but no longer exist may be missing.
	FromHistory bool
	// Problems lists the unusable parts of the answer.
	Problems []Problem
}

// Reading is the usage of one node or pod.
type Reading struct {
	// At is the older of the times at which the source measured cpu and memory. Both times may be well before the
	// query. If neither was measured, At is the oldest time of the other resources.
	At time.Time
	// Times holds the times of resources that were not measured at At. Times is nil if all
	// resources were measured at At.
	Times map[string]time.Time
	// Used maps resources to amounts: cpu in milliCPU, memory and memory.available in bytes. The
	// key of a hint rule is "rule:" plus its name, and the value is in millionths of the rule's
	// unit. Any other resource is a ratio of the whole node, in millionths.
	Used map[string]int64
}

// Problem says that an answer, or a part of it, cannot be used.
type Problem struct {
	// Kind is one of a fixed set of values, so metrics can use it as a label.
	Kind ProblemKind
	// Detail describes the problem in one line without secrets.
	Detail string
}

// ProblemKind groups problems.
type ProblemKind string

// The detail of an Empty problem ends with NoValues.
const NoValues = ": the answer has no values"

// Kinds of problems.
const (
	Unreachable ProblemKind = "Unreachable" // no answer, or not in time
	BadAnswer   ProblemKind = "BadAnswer"   // malformed, too large, a redirect, or partial
	Empty       ProblemKind = "Empty"       // no values
	NotANumber  ProblemKind = "NotANumber"  // NaN or infinite
	Implausible ProblemKind = "Implausible" // negative, a percentage instead of a ratio, or a histogram
	Stale       ProblemKind = "Stale"       // measured too long ago, or in the future
	UnknownNode ProblemKind = "UnknownNode" // names a node that is not in the cluster
	Ambiguous   ProblemKind = "Ambiguous"   // names several nodes, or a node twice
	Missing     ProblemKind = "Missing"     // a node that the answer leaves out
)
