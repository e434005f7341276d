package cluster

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// Scope says which nodes and namespaces may be worked on, and how far their measured
// usage is believed. What is out of scope
// still counts: its pods occupy nodes and domains.
type Scope struct {
	// Nodes selects by node label; nil selects all.
	Nodes labels.Selector
	// Include are the namespaces in scope; empty means all but Exclude.
	Include []string
	Exclude []string
	// Namespaces selects namespaces by label; nil selects all.
	Namespaces labels.Selector
	// Usage says when measured usage of these nodes is believed.
	Usage UsageRequirements
	// UtilizationLimit is how busy the pods may be that survive the failure of a zone,
	// as a fraction of their capacity: it separates failure categories 3 and 4.
	UtilizationLimit float64
}

// HasNode reports whether the node is in scope.
func (s Scope) HasNode(n *Node) bool {
	return s.Nodes == nil || s.Nodes.Matches(labels.Set(n.Object.Labels))
}

// HasNamespace reports whether the namespace is in scope. With a selector, one
// whose labels are not known is not.
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
