package auditverifier

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Change is one recorded state of an object. Exactly one of Pod, Budget, Workload, Node and Lease is set.
type Change struct {
	// Revision is the object's resourceVersion. All objects share one etcd counter, so revisions order all changes.
	Revision int64
	// Seen is the time at which the recorder received the change.
	Seen time.Time
	// Gone is true if the object was deleted.
	Gone bool

	Pod      *Pod
	Budget   *Budget
	Workload *Workload
	Node     *Node
	Lease    *Lease
}

// Pod holds the fields of a pod that the verifier needs.
type Pod struct {
	Namespace, Name, UID, Node string
	// App is the pod's app label, which names the workload. App is empty if no workload of the drill owns the pod.
	App    string
	Labels labels.Set
	// Ready means that the budget counts the pod as healthy: its condition Ready is True and it is not terminating.
	Ready, Terminating bool
	// Ended means that no container of the pod runs any more, and Failed that it has ended with the phase Failed.
	Ended, Failed bool
	// ByEviction means that the API server set the DisruptionTarget condition for an eviction.
	ByEviction bool
	// Protected is the reason why the pod must not be evicted from any node; empty if eviction is allowed.
	Protected string
}

func (p Pod) workloadKey() string { return p.Namespace + "/" + p.App }

// Budget is a PodDisruptionBudget.
type Budget struct {
	Namespace, Name              string
	Selector                     labels.Selector
	MinAvailable, MaxUnavailable *intstr.IntOrString
}

// requiredHealthy returns how many of the expected pods must stay healthy. Percentages are rounded up, as in the
// disruption controller.
func (b Budget) requiredHealthy(expected int) int {
	amount := cmp.Or(b.MaxUnavailable, b.MinAvailable)
	if amount == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(amount, expected, true)
	switch {
	case err != nil:
		return expected
	case b.MaxUnavailable != nil:
		return max(0, expected-n)
	}
	return n
}

// Workload is a Deployment.
type Workload struct {
	Namespace, App string
	Replicas       int
}

// Node is a node with the properties that evictions depend on.
type Node struct {
	Name, Zone string
	// Excluded is true if an annotation forbids evictions from the node.
	Excluded bool
}

// Lease is the state of the leader election Lease.
type Lease struct {
	Holder   string
	Renewed  time.Time
	Duration time.Duration
}
