package cluster

import (
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

// Node is one node with the pods that are bound to it.
type Node struct {
	ID          NodeID
	Object      *corev1.Node // read-only
	Name        string
	Allocatable Resources
	Physical    Resources // measured usage is compared with it
	AllowedPods int64
	Ready       bool
	// Requested is the sum of the Requests of Pods. Leaving is the part of those that leave by themselves (Departure),
	// and LeavingPods is their number.
	Requested, Leaving Resources
	LeavingPods        int64
	// Pods lists the bound pods that are not terminal, sorted by ID. It includes terminating pods,
	// because they use their resources until they end.
	Pods []PodID
}

// DeletedNode is a node whose deletion was seen.
type DeletedNode struct {
	Name string
	At   time.Time
	// Nodes is the number of nodes of the cluster before the deletion, without virtual nodes (VirtualKind).
	Nodes int
	// Lost reports whether the node looked lost when it was last seen, as opposed to removed on purpose.
	Lost bool
}

// DeletedNodeWindow is how long deletions of nodes are remembered.
const DeletedNodeWindow = 30 * time.Minute

// Label returns the value of a node label and whether the label is set. Like the scheduler, Label
// does not derive kubernetes.io/hostname from the node name.
func (n *Node) Label(key string) (string, bool) { v, ok := n.Object.Labels[key]; return v, ok }

// PoolLabels are the node labels by which autoscalers and providers name the pool of a node, the preferred one first.
var PoolLabels = []string{"karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name", "cloud.google.com/gke-nodepool",
	"kubernetes.azure.com/agentpool", "agentpool", "doks.digitalocean.com/node-pool", "kops.k8s.io/instancegroup", "node.kubernetes.io/node-group",
	"node.cluster.x-k8s.io/pool"}

// Pod is one pod with its node and its owners. The fields that are read most share a cache line.
type Pod struct {
	ID       PodID
	Priority int32      // 0 if it has none
	Node     NodeID     // NoNode while unbound
	Workload WorkloadID // the topmost owner, NoWorkload for bare pods
	Template *Template  // nil for a pod that is not in a snapshot

	Terminating bool
	Departure   Departure
	Terminal    bool // Succeeded or Failed
	Ready       bool
	Mark        MarkState
	// InheritedMark is Marked if one of the Owners or the namespace is marked.
	InheritedMark MarkState
	// Ordinary says that the pod runs or will run, has a controller, does not belong to its node, was not changed since
	// its creation, and is not being resized. It has no finalizer, no scheduling gate or group, no resource claims, and
	// only volumes with what the API server holds. It may be false for other pods, too.
	Ordinary bool

	Requests Resources   // effective requests, as the scheduler counts them
	Object   *corev1.Pod // read-only
	// Owners lists the owners in the snapshot, starting with the Controller. Pods of one controller
	// share the slice.
	Owners []metav1.Object
	// Controller is the controller reference of the pod, or nil for a bare pod.
	Controller *metav1.OwnerReference
	// MissingOwner is the Controller, or an owner above it, if it is not in the snapshot. Otherwise it is nil. The
	// workload is then the topmost owner in the snapshot. If there is none, or if it is a ReplicaSet or a
	// ReplicationController, which is a revision of the missing owner, the workload is the missing owner.
	MissingOwner *metav1.OwnerReference
	// NonZero holds the requests that the scheduler's scores use. For a container without requests,
	// scores assume 100m of cpu and 200Mi of memory.
	NonZero  Resources
	Budgets  []BudgetID  // PodDisruptionBudgets that select the pod
	Services []ServiceID // Services that select the pod
}

// HasTemplateOf reports whether both pods have the same template.
func (p *Pod) HasTemplateOf(q *Pod) bool { return p.Template != nil && p.Template == q.Template }

// Departure says whether a bound pod leaves its node without an eviction by Evenkeel. Goals count what will be on a
// node; predictions of landings count what is there.
//
// The rule covers every object that shows how the node will be soon: terminating pods, whoever deleted them (a
// scale-down, a drain, preemption), the older pod of a DaemonSet whose update starts the new pod first, pods that have
// ended (they count nowhere), and pods that preemption has nominated for the node, which will arrive. It does not cover
// surplus pods of a Deployment's rollout: nobody knows yet which of them leave.
type Departure uint8

const (
	// Stays means that nothing shows that the pod will leave.
	Stays Departure = iota
	// Overdue means that the pod is terminating, and nobody knows when it ends: a finalizer keeps it, or no kubelet
	// ends it. Goals count it as they count uncertain usage: no pod leaves because of it, and no pod takes its room.
	Overdue
	// Leaves means that the pod will be gone. Goals do not count it.
	Leaves
)

// overdueAfter is how long after its grace period a terminating pod is Overdue. It is the time for which pods tolerate
// an unreachable node by default.
const overdueAfter = 5 * time.Minute

// configSource is the annotation in which the kubelet stores the source of a pod: api, file or http.
const configSource = "kubernetes.io/config.source"

// daemonSetPod is the annotation by which other controllers mark the pods that run on each node.
const daemonSetPod = "cluster-autoscaler.kubernetes.io/daemonset-pod"

// BelongsToNode reports whether the pod runs on its node only: a static pod, a mirror pod, a pod of a DaemonSet, one
// that the annotation of the cluster-autoscaler marks as such, or one whose required node affinity names one node, as
// controllers like DaemonSet set it.
func (p *Pod) BelongsToNode() bool {
	if p.Ordinary {
		return false
	}
	if c := p.Controller; c != nil && (c.Kind == "DaemonSet" || c.Kind == "Node") {
		return true
	}
	return p.IsStatic() || p.IsMirror() || p.Object.Annotations[daemonSetPod] == "true" ||
		requiredNode(p.Object.Spec.Affinity) != ""
}

// IsMirror reports whether the pod is the API object of a static pod.
func (p *Pod) IsMirror() bool {
	_, mirror := p.Object.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror
}

// IsStatic reports whether the kubelet read the pod from a file or a URL.
func (p *Pod) IsStatic() bool {
	source, known := p.Object.Annotations[configSource]
	return known && source != "api" || p.Controller != nil && p.Controller.Kind == "Node"
}

// requiredNode returns the only node on which the affinity lets a pod run, by the field metadata.name, or "".
func requiredNode(a *corev1.Affinity) (name string) {
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for i, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		in := slices.IndexFunc(term.MatchFields, func(r corev1.NodeSelectorRequirement) bool {
			return r.Key == metav1.ObjectNameField && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1
		})
		if in < 0 || i > 0 && term.MatchFields[in].Values[0] != name {
			return ""
		}
		name = term.MatchFields[in].Values[0]
	}
	return name
}

// BelongsToNodes reports whether each pod of the workload runs on its node only.
func (w *Workload) BelongsToNodes(s *Snapshot) bool {
	return w.Kind == "DaemonSet" || w.Kind == "Node" || len(w.Pods) > 0 &&
		!slices.ContainsFunc(w.Pods, func(id PodID) bool { return !s.Pods[id].BelongsToNode() })
}

// Started returns when the pod started: its start time, or its creation if that is later, because
// the clock of a kubelet may be wrong. If no start time is recorded, Started returns false.
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
	Ready    int     // pods that are Ready and not terminating
}

// object is any native object of a snapshot.
type object interface {
	metav1.Object
	runtime.Object
}
