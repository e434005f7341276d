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
	// HintRulePrefix begins the names of what is asked for rules of hints: numbers of
	// whatever unit the rule is in, kept in millionths.
	HintRulePrefix = "rule:"
)

// MaxClockSkew is how far clocks may differ: what claims to be measured later than that
// would hide every sample until its time has come.
const MaxClockSkew = time.Minute

// UsageDenominator is what a measured amount of a resource is a part of, where there is so much: of
// cpu in milliCPU and of memory in bytes. Bytes that are available are compared with
// bytes, and all else is in millionths.
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

// isShareOfNode: what is used of the whole, unlike what is left of it and what rules of
// hints ask for, which only those know the meaning of.
func isShareOfNode(resource string) bool {
	return resource != MemoryAvailable && !strings.HasPrefix(resource, HintRulePrefix)
}
