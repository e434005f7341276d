package cluster

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// Objects are native objects as read from files or an API server, in any order.
type Objects struct {
	Nodes                  []*corev1.Node
	Pods                   []*corev1.Pod
	Namespaces             []*corev1.Namespace
	Services               []*corev1.Service
	ReplicationControllers []*corev1.ReplicationController
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim
	PersistentVolumes      []*corev1.PersistentVolume
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget
	ReplicaSets            []*appsv1.ReplicaSet
	Deployments            []*appsv1.Deployment
	StatefulSets           []*appsv1.StatefulSet
	DaemonSets             []*appsv1.DaemonSet
	ControllerRevisions    []*appsv1.ControllerRevision
	Jobs                   []*batchv1.Job
	CronJobs               []*batchv1.CronJob
	PriorityClasses        []*schedulingv1.PriorityClass
	StorageClasses         []*storagev1.StorageClass
	CSINodes               []*storagev1.CSINode
	CSIDrivers             []*storagev1.CSIDriver
	VolumeAttachments      []*storagev1.VolumeAttachment
	CSIStorageCapacities   []*storagev1.CSIStorageCapacity
	NodeMetrics            []*metricsv1beta1.NodeMetrics

	// TakenAt is when the objects were read; zero: derived by New from the
	// newest timestamp inside.
	TakenAt time.Time
	// ServerVersion is the API server's "major.minor"; empty: the newest supported.
	ServerVersion string
	// ClusterUID is the UID of namespace kube-system; empty: taken from Namespaces.
	ClusterUID string
	// Skipped counts objects of kinds that are not read, by "group/version Kind".
	Skipped map[string]int
	// PlannerState is our own PlannerState as JSON, which package plan reads; empty:
	// there is none.
	PlannerState []byte
	// PlannerStateError says why the PlannerState could not be read; empty: it could, or
	// there is none.
	PlannerStateError string
	// Usage is what nodes and pods really use; nil: that is not known.
	Usage *Usage
	// Redacted says that Redact was applied.
	Redacted bool
}

// NodeID, PodID and WorkloadID index the snapshot's dense slices.
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
	// Extended are all others (nvidia.com/gpu, hugepages-2Mi, ...); nil when none.
	Extended map[corev1.ResourceName]int64
}

// Node is one node with what is bound to it.
type Node struct {
	ID          NodeID
	Object      *corev1.Node // read-only
	Name        string
	Allocatable Resources
	AllowedPods int64
	Ready       bool
	// Requested sums Requests of Pods.
	Requested Resources
	// Pods are the bound pods that are not terminal (terminating ones
	// included: they hold their resources until they are gone), sorted by ID.
	Pods []PodID
}

// Label returns the value of a node label and whether it is set. It answers
// kubernetes.io/hostname only when the label is there, as the scheduler does.
func (n *Node) Label(key string) (string, bool) { v, ok := n.Object.Labels[key]; return v, ok }

// Pod is one pod with its place and its owner.
type Pod struct {
	ID       PodID
	Object   *corev1.Pod // read-only
	Requests Resources   // effective requests, as the scheduler counts them
	// NonZero are the requests with the scheduler's defaults (100m, 200Mi per
	// container) where a container gives none; scores use them.
	NonZero  Resources
	Node     NodeID     // NoNode while unbound
	Workload WorkloadID // topmost owner that was found, NoWorkload for bare pods
	// Controller is the pod's own controller reference, nil for bare pods.
	Controller *metav1.OwnerReference
	// Owners are the owners that are in the snapshot, from the Controller up; a
	// shared slice.
	Owners []metav1.Object
	// OwnerMissing says that the Controller, or one above it, is named but not
	// in the snapshot; the workload is then the highest reference known, or the
	// Job where what starts Jobs is missing.
	OwnerMissing bool
	Terminating  bool
	Terminal     bool // Succeeded or Failed
	Ready        bool
	Budgets      []BudgetID  // PodDisruptionBudgets that select it
	Services     []ServiceID // Services that select it
}

// Workload is the topmost owner that replaces pods: Deployment, StatefulSet,
// Job, ... A CronJob is none: it starts Jobs and replaces nothing.
type Workload struct {
	ID         WorkloadID
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	UID        string
	// Replicas are desired; -1 when unknown. Where the owner is not in the
	// snapshot but owners below it are, it is the sum of theirs.
	Replicas     int32
	Pods         []PodID // not terminal, bound or not, sorted by ID
	TerminalPods []PodID // those that are terminal, sorted by ID
	// Object is the owner itself, nil when it is not in the snapshot.
	Object metav1.Object
}

// Budget is a PodDisruptionBudget with its compiled selector.
type Budget struct {
	ID       BudgetID
	Object   *policyv1.PodDisruptionBudget // read-only
	Selector labels.Selector
	Pods     []PodID
	// Unreadable is why the selector cannot be used; the budget is then taken to
	// select every pod of its namespace.
	Unreadable string
}

// Service is a Service with its compiled selector; those without one select nothing.
type Service struct {
	ID       ServiceID
	Object   *corev1.Service // read-only
	Selector labels.Selector
	Pods     []PodID // not terminal
}

// Snapshot is the indexed picture. All slices and objects are read-only and
// sorted: nodes by name, the rest by namespace and name (then kind, UID).
type Snapshot struct {
	TakenAt     time.Time
	ServerMajor int
	ServerMinor int
	ClusterUID  string
	Nodes       []Node
	Pods        []Pod
	Workloads   []Workload
	Budgets     []Budget
	Services    []Service
	Objects     *Objects // everything it was built from, read-only
	// ActualNodes are nodes as they really stand, by name, where a dry run looks at them as
	// hints that it does not write would leave them; nil: all are as they stand.
	ActualNodes map[string]*corev1.Node
	// Usage is Objects.Usage by node and pod; nil where there is none.
	Usage *ResolvedUsage
	// UnknownNodePods counts pods that are bound to nodes which are not here.
	UnknownNodePods int
	// OldestUnattempted is, by schedulerName, the longest-waiting pod that no scheduler
	// has looked at yet.
	OldestUnattempted map[string]PodID
	nodeByName        map[string]NodeID
	podByUID          map[string]PodID
	namespaceByName   map[string]*corev1.Namespace
	claimByKey        map[string]*corev1.PersistentVolumeClaim
}

// NodeByName returns the node of that name, or nil.
func (s *Snapshot) NodeByName(name string) *Node {
	id, ok := s.nodeByName[name]
	if !ok {
		return nil
	}
	return &s.Nodes[id]
}

// PodByUID returns the pod with that UID, or nil.
func (s *Snapshot) PodByUID(uid string) *Pod {
	id, ok := s.podByUID[uid]
	if !ok {
		return nil
	}
	return &s.Pods[id]
}

// Namespace returns the namespace object, or nil when it is not in the snapshot.
func (s *Snapshot) Namespace(name string) *corev1.Namespace { return s.namespaceByName[name] }

// Claim returns the PersistentVolumeClaim, or nil when it is not in the snapshot.
func (s *Snapshot) Claim(namespace, name string) *corev1.PersistentVolumeClaim {
	return s.claimByKey[namespace+"/"+name]
}

// WorkloadOf returns the pod's workload, or nil for bare pods.
func (s *Snapshot) WorkloadOf(p *Pod) *Workload {
	if p.Workload == NoWorkload {
		return nil
	}
	return &s.Workloads[p.Workload]
}
