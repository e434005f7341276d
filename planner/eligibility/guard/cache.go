package guard

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// subject is what a rule looks at: where that is nothing of the pod itself, it says the
// same of all pods of the node or the workload.
type subject uint8

const (
	onNode subject = 1 << iota
	onWorkload
)

// Rules that look at nothing but the pod's node, and those that look at nothing but its
// owners, its controller's kind, its workload and its namespace.
var (
	ofNodes     = []plan.Code{plan.NodeOutOfScope, plan.NodeExcluded, plan.NodeNotReady, plan.NodeBeingDisrupted}
	ofWorkloads = []plan.Code{plan.NamespaceExcluded, plan.TooFewReplicas, plan.NoReplacement, plan.ScalingDown, plan.RolloutInProgress, plan.WorkloadDegraded}
)

// looksAt is, by rule, its subject; 0: the pod.
var looksAt = func() []subject {
	out := make([]subject, len(Rules))
	for i, r := range Rules {
		switch {
		case slices.Contains(ofNodes, r.Code):
			out[i] = onNode
		case slices.Contains(ofWorkloads, r.Code):
			out[i] = onWorkload
		}
	}
	return out
}()

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

// passed are the subjects of which another pod has shown that no rule refuses them.
func (in Input) passed() (out subject) {
	m := in.Cache
	if m == nil || m.free.nodes == nil {
		return 0
	}
	if n := in.Pod.Node; n != cluster.NoNode && m.free.nodes[n] {
		out |= onNode
	}
	if k, ok := kinOf(in.Pod); ok && m.free.kin[in.Pod.Workload] == k {
		out |= onWorkload
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
