package zonespread

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/filter"
	"github.com/evenkeel-project/evenkeel/plan"
)

// topologyCache contains the values of topology keys, and the values that pods can reach, for each distinct set of node
// constraints. Thousands of workloads share a few sets of constraints. Checking every node for every workload would
// take a hundred times as long as the rest of a pass.
type topologyCache struct {
	snapshot    *cluster.Snapshot
	scope       cluster.Scope
	topologies  map[string]*topology
	utilization func() plan.WorkloadUtilization // computed on the first call
}

// topology is one topology key with its values, the domains.
type topology struct {
	values                 []string                     // sorted
	valueOfNode            []int32                      // index of the value by node, or noValue without the label
	nodesOfValue           [][]*cluster.Node            // nodes in scope by value
	reachableByConstraints map[string]*reachable        // by node constraints of a pod
	unions                 map[[2]*reachable]*reachable // of two sets
	podCount               []int                        // scratch space by value, all 0 between calls
}

// reachable is the set of values with nodes on which some pods can run.
type reachable struct {
	contains []bool // by value
	indexes  []int32
	values   []string // sorted; goals share this slice
}

const noValue = -1

func (d *topologyCache) topology(key string) *topology {
	if a := d.topologies[key]; a != nil {
		return a
	}
	a := &topology{valueOfNode: make([]int32, len(d.snapshot.Nodes)), reachableByConstraints: map[string]*reachable{},
		unions: map[[2]*reachable]*reachable{}}
	index := map[string]int32{}
	for i := range d.snapshot.Nodes {
		if v, ok := d.snapshot.Nodes[i].Label(key); ok {
			index[v] = 0
		}
	}
	a.values = slices.Sorted(maps.Keys(index))
	for i, v := range a.values {
		index[v] = int32(i)
	}
	a.nodesOfValue, a.podCount = make([][]*cluster.Node, len(a.values)), make([]int, len(a.values))
	for i := range d.snapshot.Nodes {
		n := &d.snapshot.Nodes[i]
		v, ok := n.Label(key)
		if !ok {
			a.valueOfNode[i] = noValue
			continue
		}
		a.valueOfNode[i] = index[v]
		if d.scope.HasNode(n) {
			a.nodesOfValue[index[v]] = append(a.nodesOfValue[index[v]], n)
		}
	}
	d.topologies[key] = a
	return a
}

// reachableByGroup returns the values with nodes in scope on which a pod of the group can run. Pods of one controller
// share a template, so pods has one pod of each controller.
func (a *topology) reachableByGroup(pods []*cluster.Pod) *reachable {
	all := a.reachableByPod(pods[0].Object)
	for _, p := range pods[1:] {
		if r := a.reachableByPod(p.Object); r != all {
			all = a.union(all, r)
		}
	}
	return all
}

func (a *topology) reachableByPod(p *corev1.Pod) *reachable {
	key := nodeConstraints(&p.Spec)
	if r := a.reachableByConstraints[key]; r != nil {
		return r
	}
	canRun := filter.CanRunFunc(p)
	r := a.newReachable(func(v int) bool { return slices.ContainsFunc(a.nodesOfValue[v], canRun) })
	a.reachableByConstraints[key] = r
	return r
}

func (a *topology) union(x, y *reachable) *reachable {
	pair := [2]*reachable{x, y}
	if a.unions[pair] == nil {
		a.unions[pair] = a.newReachable(func(v int) bool { return x.contains[v] || y.contains[v] })
	}
	return a.unions[pair]
}

func (a *topology) newReachable(has func(v int) bool) *reachable {
	r := &reachable{contains: make([]bool, len(a.values))}
	for v := range a.values {
		if has(v) {
			r.contains[v] = true
			r.indexes, r.values = append(r.indexes, int32(v)), append(r.values, a.values[v])
		}
	}
	return r
}

// nodeConstraints returns a key for the fields that filter.CanRun reads. Two pods with equal keys can run on the same
// nodes.
func nodeConstraints(s *corev1.PodSpec) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		b.WriteString(strconv.Quote(key) + strconv.Quote(s.NodeSelector[key]))
	}
	for i := range s.Tolerations {
		t := &s.Tolerations[i]
		b.WriteString("\nt" + strconv.Quote(t.Key) + string(t.Operator) + strconv.Quote(t.Value) + string(t.Effect))
	}
	if affinity := s.Affinity; affinity != nil && affinity.NodeAffinity != nil &&
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			b.WriteString("\na")
			writeRequirements(&b, 'e', term.MatchExpressions)
			writeRequirements(&b, 'f', term.MatchFields)
		}
		b.WriteString("\nrequired") // a required affinity without terms matches no node
	}
	return b.String()
}

func writeRequirements(b *strings.Builder, mark byte, list []corev1.NodeSelectorRequirement) {
	for i := range list {
		b.WriteByte(mark)
		b.WriteString(strconv.Quote(list[i].Key) + string(list[i].Operator))
		for _, v := range list[i].Values {
			b.WriteString(strconv.Quote(v))
		}
	}
}
