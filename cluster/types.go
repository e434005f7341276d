package cluster

import (
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
	// Extended holds all other resources (nvidia.com/gpu, hugepages-2Mi, ...). It is nil if
	// there are none.
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
	// Requested sums Requests of Pods.
	Requested Resources
	// Pods are the bound pods that are not terminal, sorted by ID. Terminating pods are
	// included, because they hold their resources until they are gone.
	Pods []PodID
}

// Label returns the value of a node label and whether it is set. Like the scheduler, it does
// not derive kubernetes.io/hostname from the node name.
func (n *Node) Label(key string) (string, bool) { v, ok := n.Object.Labels[key]; return v, ok }

// Pod is one pod with its node and its owners.
type Pod struct {
	ID       PodID
	Object   *corev1.Pod // read-only
	Requests Resources   // effective requests, as the scheduler counts them
	// NonZero are the requests that scores use. A container without a request gets the
	// scheduler's default (100m, 200Mi).
	NonZero  Resources
	Node     NodeID     // NoNode while unbound
	Workload WorkloadID // the topmost owner found, NoWorkload for bare pods
	// Controller is the pod's own controller reference, or nil for a bare pod.
	Controller *metav1.OwnerReference
	// Owners are the owners in the snapshot, starting with the Controller. The slice is shared
	// between pods.
	Owners []metav1.Object
	// OwnerMissing says that the Controller, or an owner above it, is not in the snapshot. The
	// workload is then the highest known reference. If only the owner of a Job is missing, the
	// workload is the Job.
	OwnerMissing bool
	Terminating  bool
	Terminal     bool // Succeeded or Failed
	Ready        bool
	Budgets      []BudgetID  // PodDisruptionBudgets that select it
	Services     []ServiceID // Services that select it
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
	// Replicas is the desired number of replicas, or -1 if it is unknown. If the owner is not
	// in the snapshot, it is the sum of the replicas of the owners below it.
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
	// Unreadable says why the selector cannot be used. The budget then counts for every pod of
	// its namespace.
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
