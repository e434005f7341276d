package guard

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// kin are pods of a workload with the same owners and kind of controller.
type kin struct {
	lowest metav1.Object
	kind   string
}

func kinOf(p *cluster.Pod) (kin, bool) {
	if p.Workload == cluster.NoWorkload || p.Controller == nil || len(p.Owners) == 0 {
		return kin{}, false
	}
	return kin{p.Owners[0], p.Controller.Kind}, true
}

// passed returns the scopes in which no rule refused another pod of the same node or
// workload.
func (in Input) passed() (out Scope) {
	m := in.Cache
	if m == nil || m.free.nodes == nil {
		return 0
	}
	if n := in.Pod.Node; n != cluster.NoNode && m.free.nodes[n] {
		out |= nodeScope
	}
	if k, ok := kinOf(in.Pod); ok && m.free.kin[in.Pod.Workload] == k {
		out |= workloadScope
	}
	return out
}

// pass notes that no rule refuses the pod, and so none its node and workload.
func (in Input) pass() {
	m := in.Cache
	if m == nil {
		return
	}
	if m.free.nodes == nil {
		m.free.nodes, m.free.kin = make([]bool, len(in.Snapshot.Nodes)), make([]kin, len(in.Snapshot.Workloads))
	}
	if n := in.Pod.Node; n != cluster.NoNode {
		m.free.nodes[n] = true
	}
	if k, ok := kinOf(in.Pod); ok {
		m.free.kin[in.Pod.Workload] = k
	}
}
