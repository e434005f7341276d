// Package usage knows what nodes and pods really use. A Source asks one piece of
// software for a sample; Problems say which of its answers cannot be used.
//
// It decides what an answer means and whether it can be believed. It never guesses:
// what is missing, stale, not a number or implausible is unknown, and is said. It
// never decides what is too much.
package usage

import (
	"context"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Source asks for what nodes and pods use now.
type Source interface {
	// Sample asks once. Nodes are those of the cluster, to know what an answer is
	// about. The error says that there is no usable answer at all; what is unusable
	// in part is left out of the sample and named in its problems.
	Sample(ctx context.Context, nodes []Node) (Sample, error)
}

// HistorySource is a source that knows what was: a new process need not count anew.
type HistorySource interface {
	// History returns the samples from since on, oldest first, at most as many as
	// fit the step. With samples, the error says what is not in them.
	History(ctx context.Context, nodes []Node, since time.Time, step time.Duration) ([]Sample, error)
}

// Node is how a node may be named in answers, and what its ratios are of.
type Node struct {
	Name string
	// UID tells it from another machine of the same name; sources do not need it.
	UID string
	// Created is when the node came to be: what was measured before is of another
	// machine of that name. Zero: that is not known; sources do not need it.
	Created time.Time
	// OutOfScope: its usage counts for no mean of nodes; sources do not need it.
	OutOfScope bool
	// InternalIPs are its addresses, and Hostname its label kubernetes.io/hostname.
	InternalIPs []string
	Hostname    string
	// Capacity and Allocatable are in milliCPU and bytes.
	Capacity, Allocatable cluster.Resources
}

// Sample is one answer, in parts that can be believed.
type Sample struct {
	// Taken is when the source was asked.
	Taken time.Time
	// Nodes are by name, Pods by namespace/name.
	Nodes map[string]Reading
	Pods  map[string]Reading
	// PodDelay is how long before its time a pod may have been measured, where the
	// source does not tell: it may then be another of that name that was.
	PodDelay time.Duration
	// FromHistory: the source was asked for it later. Of pods that stood there then and
	// have left, nothing may be known.
	FromHistory bool
	// Problems are what could not be used.
	Problems []Problem
}

// Reading is what one node or pod uses.
type Reading struct {
	// At is when the source measured cpu and memory, the older of the two, which can
	// be well before it was asked; without them, the oldest of the rest.
	At time.Time
	// Times are of those resources that were measured at another time than At; nil
	// where there are none.
	Times map[string]time.Time
	// Node is where a pod stood; empty in readings of nodes, and where the source
	// does not say.
	Node string
	// Used is by resource: cpu in milliCPU, memory and memory.available in bytes; what
	// a rule of a hint asks for, named rule: and the rule, in millionths of its own
	// unit; anything else is a ratio of the whole node, in millionths.
	Used map[string]int64
}

// Problem is an answer, or a part of one, that cannot be used.
type Problem struct {
	// Kind is one of a few words, for metrics.
	Kind ProblemKind
	// Detail says what and where, in one line without secrets.
	Detail string
}

// ProblemKind groups problems.
type ProblemKind string

// NoValues ends what is said of an Empty answer.
const NoValues = ": the answer has no values"

// Kinds of problems.
const (
	Unreachable ProblemKind = "Unreachable" // no answer, or not in time
	BadAnswer   ProblemKind = "BadAnswer"   // cannot be read, too large, a redirect, partial
	Empty       ProblemKind = "Empty"       // nothing in it
	NotANumber  ProblemKind = "NotANumber"  // NaN or infinite
	Implausible ProblemKind = "Implausible" // negative, a percentage for a ratio, a histogram
	Stale       ProblemKind = "Stale"       // measured too long ago, or in the future
	UnknownNode ProblemKind = "UnknownNode" // names no node of the cluster
	Ambiguous   ProblemKind = "Ambiguous"   // names several nodes, or a node twice
	Missing     ProblemKind = "Missing"     // a node that the answer leaves out
)
