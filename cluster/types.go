package cluster

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// These IDs are indexes into the slices of a snapshot.
type (
	NodeID     int32
	PodID      int32
	WorkloadID int32
	ServiceID  int32
	BudgetID   int32
)

// NoNode and NoWorkload stand for "none".
const (
	NoNode     NodeID     = -1
	NoWorkload WorkloadID = -1
)

// Resources are amounts of compute resources.
type Resources struct {
	MilliCPU             int64
	MemoryBytes          int64
	EphemeralStorageByte int64
	// Extended holds all other resources, such as nvidia.com/gpu and hugepages-2Mi. It may be nil.
	Extended map[corev1.ResourceName]int64
}

// Node is one node with the pods that are bound to it.
type Node struct {
	ID          NodeID
	Object      *corev1.Node // read-only
	Name        string
	Allocatable Resources
	AllowedPods int64
	Ready       bool
	// Requested is the sum of the Requests of Pods.
	Requested Resources
	// Pods lists the bound pods that are not terminal, sorted by ID. It includes terminating pods,
	// because they use their resources until they end.
	Pods []PodID
}

// DeletedNode is a node whose deletion was seen.
type DeletedNode struct {
	Name string
	At   time.Time
	// Nodes is the number of nodes of the cluster before the deletion.
	Nodes int
	// Lost reports whether the node looked lost when it was last seen, as opposed to removed on purpose.
	Lost bool
}

// DeletedNodeWindow is how long deletions of nodes are remembered.
const DeletedNodeWindow = 30 * time.Minute

// Label returns the value of a node label and whether the label is set. Like the scheduler, Label
// does not derive kubernetes.io/hostname from the node name.
func (n *Node) Label(key string) (string, bool) { v, ok := n.Object.Labels[key]; return v, ok }

// Pod is one pod with its node and its owners.
type Pod struct {
	ID       PodID
	Object   *corev1.Pod // read-only
	Requests Resources   // effective requests, as the scheduler counts them
	// NonZero holds the requests that the scheduler's scores use. For a container without requests,
	// scores assume 100m of cpu and 200Mi of memory.
	NonZero  Resources
	Node     NodeID     // NoNode while unbound
	Workload WorkloadID // the topmost owner, NoWorkload for bare pods
	// Controller is the controller reference of the pod, or nil for a bare pod.
	Controller *metav1.OwnerReference
	// Owners lists the owners in the snapshot, starting with the Controller. Pods of one controller
	// share the slice.
	Owners []metav1.Object
	// OwnerMissing is true if the Controller, or an owner above the Controller, is not in the
	// snapshot. The workload is then the topmost known reference. If only the owner of a Job is
	// missing, the workload is the Job.
	OwnerMissing bool
	Terminating  bool
	Terminal     bool // Succeeded or Failed
	Ready        bool
	Budgets      []BudgetID  // PodDisruptionBudgets that select the pod
	Services     []ServiceID // Services that select the pod
}

// Started returns when the pod started: its start time, or its creation if that is later, because the clock of a kubelet
// may be wrong. If no start time is recorded, Started returns false.
func (p *Pod) Started() (time.Time, bool) {
	start, created := p.Object.Status.StartTime, p.Object.CreationTimestamp.Time
	switch {
	case start.IsZero():
		return time.Time{}, false
	case created.After(start.Time):
		return created, true
	}
	return start.Time, true
}

// Workload is the topmost owner that replaces pods: a Deployment, a StatefulSet, a Job, ... A
// CronJob is not a workload: it starts Jobs and does not replace pods.
type Workload struct {
	ID         WorkloadID
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	UID        string
	// Replicas is the desired number of replicas, or -1 if the number is unknown. If the workload is
	// not in the snapshot, Replicas is the sum of the replicas of the owners below the workload.
	Replicas     int32
	Pods         []PodID // not terminal, bound or unbound, sorted by ID
	TerminalPods []PodID // terminal pods, sorted by ID
	// Object is the owner itself, or nil if it is not in the snapshot.
	Object metav1.Object
}

// Budget is a PodDisruptionBudget with its compiled selector.
type Budget struct {
	ID       BudgetID
	Object   *policyv1.PodDisruptionBudget // read-only
	Selector labels.Selector
	Pods     []PodID
	// Unreadable explains why the selector is invalid. A budget with an invalid selector applies to
	// every pod of its namespace.
	Unreadable string
}

// Service is a Service with its compiled selector. A Service without a selector selects no
// pods.
type Service struct {
	ID       ServiceID
	Object   *corev1.Service // read-only
	Selector labels.Selector
	Pods     []PodID // not terminal
}

// object is any native object of a snapshot.
type object interface {
	metav1.Object
	runtime.Object
}

// Get returns the amount of the named resource: milliCPU for cpu, bytes for memory and
// ephemeral-storage, units for all other resources.
func (r Resources) Get(name string) int64 {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU:
		return r.MilliCPU
	case corev1.ResourceMemory:
		return r.MemoryBytes
	case corev1.ResourceEphemeralStorage:
		return r.EphemeralStorageByte
	}
	return r.Extended[corev1.ResourceName(name)]
}

// Names returns cpu, memory, ephemeral-storage and the extended resources, sorted.
func (r Resources) Names() []string {
	names := []string{string(corev1.ResourceCPU), string(corev1.ResourceEphemeralStorage), string(corev1.ResourceMemory)}
	for name := range r.Extended {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// Add adds o to r.
func (r *Resources) Add(o Resources) { r.add(o, 1) }

// Sub subtracts o from r.
func (r *Resources) Sub(o Resources) { r.add(o, -1) }

func (r *Resources) add(o Resources, sign int64) {
	r.MilliCPU += sign * o.MilliCPU
	r.MemoryBytes += sign * o.MemoryBytes
	r.EphemeralStorageByte += sign * o.EphemeralStorageByte
	for name, n := range o.Extended {
		if r.Extended == nil {
			r.Extended = map[corev1.ResourceName]int64{}
		}
		r.Extended[name] += sign * n
	}
}

// Clone returns a copy that shares nothing with r.
func (r Resources) Clone() Resources {
	r.Extended = maps.Clone(r.Extended)
	return r
}

// ResourcesOf converts a native resource list. It leaves out the pod count.
func ResourcesOf(list corev1.ResourceList) Resources {
	var r Resources
	for name, q := range list {
		switch name {
		case corev1.ResourceCPU:
			r.MilliCPU = q.MilliValue()
		case corev1.ResourceMemory:
			r.MemoryBytes = q.Value()
		case corev1.ResourceEphemeralStorage:
			r.EphemeralStorageByte = q.Value()
		case corev1.ResourcePods:
		default:
			if r.Extended == nil {
				r.Extended = map[corev1.ResourceName]int64{}
			}
			r.Extended[name] = q.Value()
		}
	}
	return r
}
