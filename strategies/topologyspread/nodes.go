package topologyspread

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/strategies/topology"
)

// nodeSet is the set of nodes whose pods and domains a constraint counts.
type nodeSet struct {
	number int
	// notCounted marks, by node, the nodes outside the set. Nil means that the set has all nodes.
	notCounted []bool
	domains    map[string]*topology.Set // by topology key
}

func honorsAffinity(c *corev1.TopologySpreadConstraint) bool {
	return ptr.Deref(c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor) == corev1.NodeInclusionPolicyHonor
}

func honorsTaints(c *corev1.TopologySpreadConstraint) bool {
	return ptr.Deref(c.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore) == corev1.NodeInclusionPolicyHonor
}

// nodeRules decide which nodes the constraints of one pod count.
type nodeRules struct {
	action           corev1.UnsatisfiableConstraintAction
	affinity, taints bool
}

// nodeSet returns the nodes that constraints of a pod count. They have the topology keys of all constraints of the
// pod with the same action, and pass the policies of the constraint.
func (f *finder) nodeSet(p *corev1.Pod, by nodeRules) *nodeSet {
	var keys []string
	for i := range p.Spec.TopologySpreadConstraints {
		if other := &p.Spec.TopologySpreadConstraints[i]; other.WhenUnsatisfiable == by.action {
			keys = append(keys, other.TopologyKey)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	key := appendStrings(nil, keys...)
	if by.affinity {
		key = topology.AppendNodeAffinity(append(key, 'a'), &p.Spec)
	}
	if by.taints {
		key = topology.AppendTolerations(append(key, 't'), &p.Spec)
	}
	if known := f.nodeSets[string(key)]; known != nil {
		return known
	}
	required, all := nodeaffinity.GetRequiredNodeAffinity(p), true
	set := &nodeSet{number: len(f.sameNodes), notCounted: make([]bool, len(f.snapshot.Nodes)), domains: map[string]*topology.Set{}}
	for i := range f.snapshot.Nodes {
		n := f.snapshot.Nodes[i].Object
		set.notCounted[i] = slices.ContainsFunc(keys, func(k string) bool { _, has := n.Labels[k]; return !has }) ||
			by.affinity && !filter.MatchesNodeAffinity(required, n) || by.taints && !filter.ToleratesTaints(p, n)
		all = all && !set.notCounted[i]
	}
	if all {
		set.notCounted = nil
	}
	var marks []byte
	for _, no := range set.notCounted {
		marks = strconv.AppendBool(marks, no)
	}
	if same := f.sameNodes[string(marks)]; same != nil {
		set = same
	}
	f.nodeSets[string(key)], f.sameNodes[string(marks)] = set, set
	return set
}

// domainsOf returns the values of a topology key among the nodes of the set.
func (f *finder) domainsOf(set *nodeSet, key string) *topology.Set {
	if known := set.domains[key]; known != nil {
		return known
	}
	all := f.topologies.Domains(key)
	counted := make([]bool, len(all.Values))
	for i := range f.snapshot.Nodes {
		n := &f.snapshot.Nodes[i]
		if domain, ok := all.OfNode(n.ID); ok && (set.notCounted == nil || !set.notCounted[i]) {
			counted[domain] = true
		}
	}
	set.domains[key] = all.NewSet(func(domain int32) bool { return counted[domain] })
	return set.domains[key]
}
