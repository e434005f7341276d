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

// Objects holds native objects in any order, as read from files or an API server.
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

	// TakenAt is when the objects were read. If it is zero, New uses the newest timestamp in
	// the objects.
	TakenAt time.Time
	// ServerVersion is the API server's "major.minor". If it is empty, the newest supported
	// version is assumed.
	ServerVersion string
	// ClusterUID is the UID of the namespace kube-system. If it is empty, New takes it from
	// Namespaces.
	ClusterUID string
	// Skipped counts objects of kinds that are not read, by "group/version Kind".
	Skipped map[string]int
	// PlannerState is Evenkeel's own PlannerState as JSON, or empty. Package plan reads it.
	PlannerState []byte
	// PlannerStateError says why the PlannerState could not be read. It is empty if there was
	// no error.
	PlannerStateError string
	// Usage is the measured usage of nodes and pods. Nil means unknown.
	Usage *Usage
	// Redacted says that Redact was applied.
	Redacted bool
}

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

// Snapshot is an indexed view of the cluster. All slices and objects are read-only. Nodes are
// sorted by name, all others by namespace and name (then kind and UID).
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
	Objects     *Objects // everything the snapshot was built from, read-only
	// ActualNodes maps names to the nodes as they are in the cluster. A dry run sets it if
	// Nodes show hints that it does not write. Nil means that Nodes are the actual ones.
	ActualNodes map[string]*corev1.Node
	// Usage is Objects.Usage by node and pod, or nil if there is none.
	Usage *ResolvedUsage
	// UnknownNodePods counts pods that are bound to nodes outside the snapshot.
	UnknownNodePods int
	// OldestUnattempted maps a schedulerName to the oldest pod that the scheduler has not tried
	// to place.
	OldestUnattempted map[string]PodID
	nodeByName        map[string]NodeID
	podByUID          map[string]PodID
	namespaceByName   map[string]*corev1.Namespace
	claimByKey        map[string]*corev1.PersistentVolumeClaim
}

// NodeByName returns the node with that name, or nil.
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

// Namespace returns the namespace object, or nil if it is not in the snapshot.
func (s *Snapshot) Namespace(name string) *corev1.Namespace { return s.namespaceByName[name] }

// Claim returns the PersistentVolumeClaim, or nil if it is not in the snapshot.
func (s *Snapshot) Claim(namespace, name string) *corev1.PersistentVolumeClaim {
	return s.claimByKey[namespace+"/"+name]
}

// WorkloadOf returns the pod's workload, or nil for a bare pod.
func (s *Snapshot) WorkloadOf(p *Pod) *Workload {
	if p.Workload == NoWorkload {
		return nil
	}
	return &s.Workloads[p.Workload]
}
