package zonespread

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/plan"
)

// domains are the values of topology keys and who can reach them, worked out
// once per key and per distinct demands on nodes. Thousands of workloads share
// a handful of both, and asking every node for each of them would take a
// hundred times as long as the rest of a pass.
type domains struct {
	s     *cluster.Snapshot
	scope cluster.Scope
	axes  map[string]*axis
	busy  func() plan.WorkloadUtilization // made when first asked for
}

// axis is one topology key.
type axis struct {
	values []string             // in order
	at     []int32              // by node: which value it has; none without the label
	nodes  [][]*cluster.Node    // by value: those in scope
	reach  map[string]*reach    // by demands on nodes, of one pod
	joint  map[[2]*reach]*reach // of two that were joined
	count  []int                // scratch, by value: all 0 between calls
}

// reach is where some pods can run.
type reach struct {
	has    []bool // by value
	in     []int32
	values []string // of in; shared by goals
}

const none = -1

func (d *domains) axis(key string) *axis {
	if a := d.axes[key]; a != nil {
		return a
	}
	a := &axis{at: make([]int32, len(d.s.Nodes)), reach: map[string]*reach{}, joint: map[[2]*reach]*reach{}}
	index := map[string]int32{}
	for i := range d.s.Nodes {
		if v, ok := d.s.Nodes[i].Label(key); ok {
			index[v] = 0
		}
	}
	a.values = slices.Sorted(maps.Keys(index))
	for i, v := range a.values {
		index[v] = int32(i)
	}
	a.nodes, a.count = make([][]*cluster.Node, len(a.values)), make([]int, len(a.values))
	for i := range d.s.Nodes {
		n := &d.s.Nodes[i]
		v, ok := n.Label(key)
		if !ok {
			a.at[i] = none
			continue
		}
		a.at[i] = index[v]
		if d.scope.HasNode(n) {
			a.nodes[index[v]] = append(a.nodes[index[v]], n)
		}
	}
	d.axes[key] = a
	return a
}

// of are the values on nodes in scope where a pod of the group can run. Pods of
// one controller share a template, so one pod per controller is asked.
func (a *axis) of(one []*cluster.Pod) *reach {
	var all *reach
	for _, p := range one {
		r := a.reached(p.Object)
		if all == nil || all == r {
			all = r
			continue
		}
		all = a.join(all, r)
	}
	return all
}

func (a *axis) reached(p *corev1.Pod) *reach {
	key := demands(&p.Spec)
	if r := a.reach[key]; r != nil {
		return r
	}
	runs := placement.Runs(p)
	r := a.gather(func(v int) bool { return slices.ContainsFunc(a.nodes[v], runs) })
	a.reach[key] = r
	return r
}

func (a *axis) join(x, y *reach) *reach {
	pair := [2]*reach{x, y}
	if a.joint[pair] == nil {
		a.joint[pair] = a.gather(func(v int) bool { return x.has[v] || y.has[v] })
	}
	return a.joint[pair]
}

func (a *axis) gather(has func(v int) bool) *reach {
	r := &reach{has: make([]bool, len(a.values))}
	for v := range a.values {
		if has(v) {
			r.has[v] = true
			r.in, r.values = append(r.in, int32(v)), append(r.values, a.values[v])
		}
	}
	return r
}

// demands are what placement.Runs asks of a pod: two pods with the same run on
// the same nodes.
func demands(s *corev1.PodSpec) string {
	affinity := s.Affinity
	if len(s.NodeSelector) == 0 && len(s.Tolerations) == 0 && affinity == nil {
		return ""
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		b.WriteString(strconv.Quote(key) + strconv.Quote(s.NodeSelector[key]))
	}
	for i := range s.Tolerations {
		t := &s.Tolerations[i]
		b.WriteString("\nt" + strconv.Quote(t.Key) + string(t.Operator) + strconv.Quote(t.Value) + string(t.Effect))
	}
	if affinity != nil && affinity.NodeAffinity != nil && affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			b.WriteString("\na")
			requirements(&b, 'e', term.MatchExpressions)
			requirements(&b, 'f', term.MatchFields)
		}
		b.WriteString("\nrequired") // one without terms matches no node
	}
	return b.String()
}

func requirements(b *strings.Builder, mark byte, list []corev1.NodeSelectorRequirement) {
	for i := range list {
		b.WriteByte(mark)
		b.WriteString(strconv.Quote(list[i].Key) + string(list[i].Operator))
		for _, v := range list[i].Values {
			b.WriteString(strconv.Quote(v))
		}
	}
}
