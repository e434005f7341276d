package cluster

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// Scope selects the nodes and namespaces in which the planner may move pods. Pods out of scope still
// occupy nodes and count in topology domains.
type Scope struct {
	// Nodes selects nodes by label. Nil selects all.
	Nodes labels.Selector
	// Virtual recognizes virtual nodes, which are never in scope.
	Virtual VirtualNodes
	// Include lists the namespaces in scope. If it is empty, all namespaces except those in
	// Exclude are in scope.
	Include []string
	Exclude []string
	// Namespaces selects namespaces by label. Nil selects all.
	Namespaces labels.Selector
	// Pods selects pods by label, for the goals of strategies about single pods. Nil selects all.
	Pods labels.Selector
	// Usage defines when strategies may rely on measured usage.
	Usage UsageRequirements
	// UtilizationLimit is the maximum utilization (0..1 of capacity) of the remaining pods after
	// the failure of a zone. It separates failure categories 3 and 4.
	UtilizationLimit float64
}

// HasNode reports whether the node is in scope. Virtual nodes are not.
func (s Scope) HasNode(n *Node) bool { return s.SelectsNode(n) && s.Virtual.Kind(n.Object) == "" }

// SelectsNode reports whether Nodes selects the node, virtual or not.
func (s Scope) SelectsNode(n *Node) bool {
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

// HasPod reports whether the pod is in scope: its namespace is, and Pods selects it.
func (s Scope) HasPod(x *Snapshot, p *Pod) bool {
	return s.HasNamespace(x, p.Object.Namespace) && (s.Pods == nil || s.Pods.Matches(labels.Set(p.Object.Labels)))
}

// UsageRequirements defines when strategies may rely on measured usage.
type UsageRequirements struct {
	// MaxAge limits the age of a node's usage. Older usage counts as unknown. 0 means no limit.
	MaxAge time.Duration
	// MinCoverage is the minimum share (0..1) of the nodes in scope with known usage. With a lower
	// share, no strategy relies on usage.
	MinCoverage float64
}
