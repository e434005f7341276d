package guard

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// Scope is the set of objects that determine the result of a rule, besides the options and the time.
type Scope uint8

// If a pod passes every rule, Check skips the rules with NodeScope for other pods on the same node, and the rules with
// WorkloadScope for similar pods of the same workload. Check never skips rules with PodScope or PlanScope.
const (
	PlanScope     Scope = iota // the result may depend on any object of the snapshot
	PodScope                   // the result depends on the pod and the objects that the pod refers to
	WorkloadScope              // the result is the same for all pods with the same ownerKey
	NodeScope                  // the result is the same for all pods on a node
)

// ownerKey identifies the pods of one workload with the same direct owner object and the same kind of controller.
type ownerKey struct {
	workload cluster.WorkloadID
	owner    metav1.Object
	kind     string
}

// ownerKeyOf returns false if the snapshot has no workload or no owner of the pod.
func ownerKeyOf(p *cluster.Pod) (ownerKey, bool) {
	if p.Workload == cluster.NoWorkload || p.Controller == nil || len(p.Owners) == 0 {
		return ownerKey{}, false
	}
	return ownerKey{p.Workload, p.Owners[0], p.Controller.Kind}, true
}

// passedScopes records the nodes and the owners that have a pod that passed every rule.
type passedScopes struct {
	nodes  []bool     // by cluster.NodeID
	owners []ownerKey // the latest owner with such a pod, by cluster.WorkloadID
}

// covers reports whether an earlier pod has already passed the rules of this scope for the pod p.
func (s *passedScopes) covers(scope Scope, p *cluster.Pod) bool {
	if s.nodes == nil {
		return false
	}
	switch scope {
	case NodeScope:
		return p.Node != cluster.NoNode && s.nodes[p.Node]
	case WorkloadScope:
		key, ok := ownerKeyOf(p)
		return ok && s.owners[p.Workload] == key
	}
	return false
}

// add records a pod that passed every rule.
func (s *passedScopes) add(snapshot *cluster.Snapshot, p *cluster.Pod) {
	if s.nodes == nil {
		s.nodes, s.owners = make([]bool, len(snapshot.Nodes)), make([]ownerKey, len(snapshot.Workloads))
	}
	if p.Node != cluster.NoNode {
		s.nodes[p.Node] = true
	}
	if key, ok := ownerKeyOf(p); ok {
		s.owners[p.Workload] = key
	}
}
