package cluster

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/evenkeel-project/evenkeel/cluster/nodemarks"
)

// Scope selects the nodes and namespaces in which the planner may move pods. Pods out of scope still
// occupy nodes and count in topology domains.
type Scope struct {
	// Nodes selects nodes by label. Nil selects all.
	Nodes labels.Selector
	// Virtual recognizes virtual nodes, which are never in scope.
	Virtual VirtualNodes
	// NewArchitectures allows moves of a pod to an architecture on which no pod of its workload runs.
	NewArchitectures bool
	// Marks recognizes the marks that other programs put on nodes.
	Marks nodemarks.Table
	// Include lists the namespaces in scope, by name or by prefix (openshift-*). If it is empty, all namespaces except
	// those in Exclude are in scope.
	Include []string
	Exclude []string
	// Namespaces selects namespaces by label. Nil selects all.
	Namespaces labels.Selector
	// Trusted lists the namespaces whose annotations may ask for requests that a budget would refuse, and may weigh
	// goals. Annotations of other namespaces only protect pods or order them.
	Trusted []string
	// Pods selects pods by label, for the goals of strategies about single pods. Nil selects all.
	Pods labels.Selector
	// Hints are the labels and taints of nodes that say nothing about where a running pod belongs.
	Hints HintMarks
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

// ListsNamespace reports whether Include and Exclude put the namespace in scope.
func (s Scope) ListsNamespace(name string) bool {
	return !ListsNamespace(s.Exclude, name) && (len(s.Include) == 0 || ListsNamespace(s.Include, name))
}

// HasNamespace reports whether the namespace is in scope. With a label selector, a namespace
// whose labels are unknown is out of scope.
func (s Scope) HasNamespace(x *Snapshot, name string) bool {
	if !s.ListsNamespace(name) {
		return false
	}
	if s.Namespaces == nil || s.Namespaces.Empty() {
		return true
	}
	o := x.Namespace(name)
	return o != nil && s.Namespaces.Matches(labels.Set(o.Labels))
}

// Trusts reports whether annotations in the namespace may do more than protect pods and order them.
func (s Scope) Trusts(namespace string) bool { return ListsNamespace(s.Trusted, namespace) }

// WantNamespaces tells what an entry of a list of namespaces may be.
const WantNamespaces = "want lower case letters, digits and dashes, or the beginning of names with an asterisk, such as openshift-*"

// ValidNamespaces reports whether the entry of a list of namespaces is a name or a prefix with an asterisk.
func ValidNamespaces(entry string) bool {
	if prefix, ok := strings.CutSuffix(entry, "*"); ok && prefix != "" {
		entry = prefix + "x"
	}
	return len(validation.IsDNS1123Label(entry)) == 0
}

// ListsNamespace reports whether the entries, names or prefixes with an asterisk, contain the namespace. If name is a
// prefix itself, it reports whether they contain every namespace with it.
func ListsNamespace(entries []string, name string) bool {
	return slices.ContainsFunc(entries, func(e string) bool {
		prefix, ok := strings.CutSuffix(e, "*")
		return e == name || ok && strings.HasPrefix(strings.TrimSuffix(name, "*"), prefix)
	})
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

// HintMarks names the labels and taints that Evenkeel puts on nodes for a short time. They keep new pods away, and must
// not evict the pods that run there.
type HintMarks struct {
	// Labels have the form key=value.
	Labels []string
	// Taints are the keys of taints with the effect PreferNoSchedule.
	Taints []string
}

// Without returns the node without these labels and taints. It returns the node itself if it has none of them.
func (h HintMarks) Without(n *corev1.Node) *corev1.Node {
	out := n
	change := func() {
		if out == n {
			out = new(*n)
		}
	}
	for _, label := range h.Labels {
		key, value, _ := strings.Cut(label, "=")
		if got, ok := out.Labels[key]; ok && got == value {
			change()
			out.Labels = maps.Clone(out.Labels)
			delete(out.Labels, key)
		}
	}
	if slices.ContainsFunc(n.Spec.Taints, h.hasTaint) {
		change()
		out.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), h.hasTaint)
	}
	return out
}

func (h HintMarks) hasTaint(t corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectPreferNoSchedule && slices.Contains(h.Taints, t.Key)
}
