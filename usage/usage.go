// Package usage defines the measured usage of nodes and pods. A Source reads samples from one
// program. Problems say which of its answers cannot be used.
//
// It decides what an answer means and whether it is plausible. It never guesses: a missing,
// stale, non-numeric or implausible value is unknown and is reported as a problem. It never
// decides what usage is too high.
package usage

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Source reads the current usage of nodes and pods.
type Source interface {
	// Sample reads one sample. nodes are the nodes of the cluster. An error means that there is
	// no usable answer. Unusable parts of an answer are left out of the sample and listed in
	// its problems.
	Sample(ctx context.Context, nodes []Node) (Sample, error)
}

// HistorySource is a source that also knows past usage. With it, a new process does not have to
// count from zero.
type HistorySource interface {
	// History returns the samples since a time, oldest first, at most one per step. If there
	// are samples and an error, the error says what is missing.
	History(ctx context.Context, nodes []Node, since time.Time, step time.Duration) ([]Sample, error)
}

// Node holds the names of a node in answers, and the amounts that its ratios refer to.
type Node struct {
	Name string
	// UID distinguishes the node from another machine of the same name. Sources do not need it.
	UID string
	// Created is when the node was created. Earlier measurements belong to another machine of
	// the same name. Zero means unknown. Sources do not need it.
	Created time.Time
	// OutOfScope excludes the node from means over nodes. Sources do not need it.
	OutOfScope bool
	// InternalIPs are the node's addresses, and Hostname its label kubernetes.io/hostname.
	InternalIPs []string
	Hostname    string
	// Capacity and Allocatable are in milliCPU and bytes.
	Capacity, Allocatable cluster.Resources
}

// Sample holds the plausible parts of one answer.
type Sample struct {
	// Taken is when the source was asked.
	Taken time.Time
	// Nodes are by name, Pods by namespace/name.
	Nodes map[string]Reading
	Pods  map[string]Reading
	// PodDelay is how long before its time a pod may have been measured. It is set if the
	// source does not report measurement times. A value may then belong to an earlier pod of
	// the same name.
	PodDelay time.Duration
	// FromHistory means that the sample comes from the source's history. Pods that ran then and
	// have left may be missing.
	FromHistory bool
	// Problems lists what could not be used.
	Problems []Problem
}

// Reading is the usage of one node or pod.
type Reading struct {
	// At is the older of the times at which the source measured cpu and memory. That may be
	// well before the source was asked. If neither was measured, it is the oldest time of the
	// other resources.
	At time.Time
	// Times holds the times of resources that were not measured at At. It is nil if there are
	// none.
	Times map[string]time.Time
	// Node is the pod's node. It is empty in readings of nodes, and if the source does not
	// report it.
	Node string
	// Used maps resources to amounts: cpu in milliCPU, memory and memory.available in bytes.
	// The value for a hint rule is named "rule:" plus the rule, in millionths of the rule's
	// unit. Any other resource is a ratio of the whole node, in millionths.
	Used map[string]int64
}

// Problem says that an answer, or a part of it, cannot be used.
type Problem struct {
	// Kind is one of a fixed set of words, for metrics.
	Kind ProblemKind
	// Detail says what is wrong and where, in one line without secrets.
	Detail string
}

// ProblemKind groups problems.
type ProblemKind string

// NoValues ends the detail of an Empty problem.
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
