package cluster

import (
	"strings"
	"time"
)

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
