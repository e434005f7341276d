package cluster

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// Scope says which nodes and namespaces the planner may work on, and when their measured usage
// is acted on. Pods out of scope still occupy nodes and count in topology domains.
type Scope struct {
	// Nodes selects nodes by label. Nil selects all.
	Nodes labels.Selector
	// Include lists the namespaces in scope. If it is empty, all namespaces except those in
	// Exclude are in scope.
	Include []string
	Exclude []string
	// Namespaces selects namespaces by label. Nil selects all.
	Namespaces labels.Selector
	// Usage says when the measured usage of these nodes is acted on.
	Usage UsageRequirements
	// UtilizationLimit is the maximum utilization (0..1 of capacity) of the pods that survive
	// the failure of a zone. It separates failure categories 3 and 4.
	UtilizationLimit float64
}

// HasNode reports whether the node is in scope.
func (s Scope) HasNode(n *Node) bool {
	return s.Nodes == nil || s.Nodes.Matches(labels.Set(n.Object.Labels))
}

// HasNamespace reports whether the namespace is in scope. With a label selector, a namespace
// whose labels are unknown is out of scope.
func (s Scope) HasNamespace(x *Snapshot, name string) bool {
	if slices.Contains(s.Exclude, name) || len(s.Include) > 0 && !slices.Contains(s.Include, name) {
		return false
	}
	if s.Namespaces == nil || s.Namespaces.Empty() {
		return true
	}
	o := x.Namespace(name)
	return o != nil && s.Namespaces.Matches(labels.Set(o.Labels))
}

// UsageRequirements says when measured usage may be acted on.
type UsageRequirements struct {
	// MaxAge is the age beyond which a node's usage is unknown. 0 means no limit.
	MaxAge time.Duration
	// MinCoverage is the minimum share (0..1) of the nodes in scope whose usage must be known
	// before any strategy acts on usage.
	MinCoverage float64
}
