package quality

import (
	"cmp"
	"encoding/binary"
	"maps"
	"reflect"
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// stateKey identifies a state by the nodes of the moved pods. The order of the moves does not matter, nor which of the
// pods that are alike moved.
func (g *exhaustiveSearch) stateKey() string {
	var moved []podMove
	for _, h := range g.steps {
		moved = append(moved, podMove{g.firstAlike(h.pod), h.from, h.to})
	}
	slices.SortFunc(moved, func(a, b podMove) int { return cmp.Or(cmp.Compare(a.pod, b.pod), cmp.Compare(a.to, b.to)) })
	var b []byte
	for _, h := range moved {
		b = binary.AppendUvarint(b, uint64(h.pod))
		b = binary.AppendUvarint(b, uint64(h.to))
	}
	return string(b)
}

// firstAlike returns the first pod on the same node at the start that is like the pod.
func (g *exhaustiveSearch) firstAlike(pod cluster.PodID) cluster.PodID {
	if first, known := g.first[pod]; known {
		return first
	}
	pods := g.s.Nodes[g.s.Pods[pod].Node].Pods
	g.first[pod] = pods[slices.IndexFunc(pods, func(o cluster.PodID) bool { return g.areAlike(o, pod) })]
	return g.first[pod]
}

// areAlike reports whether two pods on a node differ in nothing that the search reads.
func (g *exhaustiveSearch) areAlike(a, b cluster.PodID) bool {
	p, q := &g.s.Pods[a], &g.s.Pods[b]
	if a == b {
		return true
	}
	if p.Workload != q.Workload || g.mayEvict[a] != g.mayEvict[b] || len(p.Object.Spec.Volumes) > 0 ||
		!maps.Equal(p.Object.Labels, q.Object.Labels) || !reflect.DeepEqual(p.Object.Spec, q.Object.Spec) {
		return false
	}
	return !slices.ContainsFunc(g.goals, func(x *goalState) bool {
		single := x.goal.Kind == plan.PodAway || x.goal.Kind == plan.PodsApart
		return x.member[a] != x.member[b] || x.member[a] && single
	})
}
