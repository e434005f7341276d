package witness

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Change is a state that an object took. Exactly one of the pointers is set.
type Change struct {
	// Revision is the object's resourceVersion. One etcd counts for all objects,
	// so revisions put all changes into the order in which they happened.
	Revision int64
	// Seen is when the witness's watch told of it.
	Seen time.Time
	// Gone: the object was deleted in this state.
	Gone bool

	Pod      *Pod
	Budget   *Budget
	Workload *Workload
	Node     *Node
	Lease    *Lease
}

// Pod is what matters about a pod.
type Pod struct {
	Namespace, Name, UID, Node string
	// App is the value of the label that names the workload; empty when no
	// workload of the drill owns the pod.
	App    string
	Labels labels.Set
	// Ready counts as healthy: not terminating, and the condition Ready is True.
	Ready, Terminating bool
	// ByEviction: the API server noted that an eviction disrupts the pod.
	ByEviction bool
	// Protected says why the pod must stay, whatever node it is on; else empty.
	Protected string
}

func (p Pod) workload() string { return p.Namespace + "/" + p.App }

// Budget is a PodDisruptionBudget.
type Budget struct {
	Namespace, Name              string
	Selector                     labels.Selector
	MinAvailable, MaxUnavailable *intstr.IntOrString
}

// desired is how many of so many expected pods must stay healthy. Shares are
// rounded up, as the disruption controller does.
func (b Budget) desired(expected int) int {
	switch {
	case b.MaxUnavailable != nil:
		n, err := intstr.GetScaledValueFromIntOrPercent(b.MaxUnavailable, expected, true)
		if err != nil {
			return expected
		}
		return max(0, expected-n)
	case b.MinAvailable != nil:
		n, err := intstr.GetScaledValueFromIntOrPercent(b.MinAvailable, expected, true)
		if err != nil {
			return expected
		}
		return n
	}
	return 0
}

// Workload is a Deployment.
type Workload struct {
	Namespace, App string
	Replicas       int
}

// Node is a node with what makes it special.
type Node struct {
	Name, Zone string
	// Excluded: people asked that nobody moves its pods.
	Excluded bool
}

// Lease is the Lease that processes compete for.
type Lease struct {
	Holder   string
	Renewed  time.Time
	Duration time.Duration
}
