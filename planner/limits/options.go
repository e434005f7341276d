package limits

import "github.com/evenkeel-project/evenkeel/plan"

// Options bound the evictions of one pass. Percentages are shares of the bound pods of the cluster, node, namespace,
// owner or zone.
type Options struct {
	PerPass, PerNode, PerNamespace, PerOwner, PerZone plan.CountLimit
	PerHour                                           PerHour
}

// PerHour bounds the evictions of the last hour, including those of earlier passes. Percentages are not supported.
type PerHour struct {
	Owner, Namespace, Cluster plan.CountLimit
}

// WindowLimits are the limits of one allow window. A limit that the window does not set is unlimited.
type WindowLimits struct {
	// Key is the configuration key of the window's limits, such as windows.allow[0].limits.
	Key string
	Options
}

// NoStrategy is the index of a strategy that is not in the options, or of no strategy.
const NoStrategy = -1
