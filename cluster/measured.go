package cluster

import (
	"strings"
	"time"
)

// What is measured besides cpu, memory and ratios of a whole node.
const (
	// MemoryAvailable is the resource of which a node has left what the kubelet's
	// eviction signal of that name says: its capacity less its working set, in bytes.
	MemoryAvailable = "memory.available"
	// RulePrefix begins the names of what is asked for rules of hints: numbers of
	// whatever unit the rule is in, kept in millionths.
	RulePrefix = "rule:"
)

// ClockSkew is how far clocks may differ: what claims to be measured later than that
// would hide every sample until its time has come.
const ClockSkew = time.Minute

// WholeOf is what a measured amount of a resource is a part of, where there is so much: of
// cpu in milliCPU and of memory in bytes. Bytes that are available are compared with
// bytes, and all else is in millionths.
func WholeOf(there *Resources, resource string) int64 {
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

// partOfNode: what is used of the whole, unlike what is left of it and what rules of
// hints ask for, which only those know the meaning of.
func partOfNode(resource string) bool {
	return resource != MemoryAvailable && !strings.HasPrefix(resource, RulePrefix)
}
