package model

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"maps"
)

// ClassNumber numbers what the scheduler cannot tell the pod from: pods of one number, from
// 0 to below Classes, get the same answers of CouldRun wherever Supported holds for both. A
// pod that has ended has none, -1.
func (w *Cluster) ClassNumber(p cluster.PodID) int {
	if c := w.PodClass[p]; c != nil {
		return c.Number
	}
	return -1
}

// ClassCount is how many there are.
func (w *Cluster) ClassCount() int { return len(w.ClassList) }

type Cluster struct {
	Snap     *cluster.Snapshot
	Profiles map[string]*scheduler.Compiled // by schedulerName
	Packing  *PackingState                  // what TargetLoadPacking knows; nil when no profile has it

	PodNode            []cluster.NodeID    // the node of each pod in this model
	PodClass           []*EquivalenceClass // by pod; nil for terminal pods
	ClassList          []*EquivalenceClass
	ClassesByNamespace map[string][]*EquivalenceClass
	ClassesByLabel     map[labelKey]map[string][]*EquivalenceClass // made on demand

	Requests          []NodeRequests // by node
	Hints             SteeringHints
	Topologies        map[string]*Topology
	NodesWithKeys     map[string][]bool      // by topologies, the nodes that have all their keys
	SpreadCounters    map[string]*PodCounter // pods that match a selector, terminating ones left out
	TermCounters      map[string]*PodCounter // pods that match affinity terms
	AntiAffinityTerms []*ExistingTerm        // required anti-affinity terms of the pods on nodes
	ScoredTerms       []*ExistingTerm        // terms of the pods on nodes which give scores
	TermsByID         map[string]*ExistingTerm

	NamespaceLabels map[string]labels.Set
	// UnknownNamespace is one namespace with pods whose object is not known.
	UnknownNamespace string
	// NotReadyNode names a node that is not ready, empty for none.
	NotReadyNode string
	// InvalidAffinityPod names a pod whose affinity cannot be parsed; nothing can be
	// predicted beside it.
	InvalidAffinityPod string
	Services           map[string][]*corev1.Service
	owners             map[ownerKey]Owner

	Storage        *volume.Storage
	Ports          PortTable
	Disks          volume.DiskTable
	Attachments    *volume.Attachments
	Nominated      map[cluster.NodeID][]cluster.PodID
	LastID         int                  // views and topologies that have got a number
	ChangedNodes   []cluster.NodeID     // where pods came or went, oldest first
	DroppedChanges int                  // changes that are no longer listed
	OnChange       func(cluster.NodeID) // told of each node that pods come to or leave; nil: nobody

	NodeOrder    []cluster.NodeID // order in which the scheduler looks at nodes; made on demand
	NodePosition []int32          // by node, its place in the walk
}

// NodeRequests is what stands on one node. Scores by LeastAllocated use the nonZero
// sums, everything else the true ones. What the node has of cpu and memory is
// kept beside them, since scores read both together.
type NodeRequests struct {
	AllocatableMilliCPU, AllocatableBytes int64

	MilliCPU, MemoryBytes, EphemeralBytes int64
	NonZeroMilliCPU, NonZeroBytes         int64
	Pods                                  int64
	Extended                              map[corev1.ResourceName]int64
}

// Snapshot returns the snapshot from which the world was made.
func (w *Cluster) Snapshot() *cluster.Snapshot { return w.Snap }

// NodeOf returns where the pod stands in this world, NoNode when it is unbound,
// terminal or gone.
func (w *Cluster) NodeOf(p cluster.PodID) cluster.NodeID { return w.PodNode[p] }

// Move lets the pod's replacement stand on the node `to`, the victim gone; with
// NoNode the pod is gone without a replacement. Moving back undoes it.
func (w *Cluster) Move(p cluster.PodID, to cluster.NodeID) {
	from := w.PodNode[p]
	if from == to || w.Snap.Pods[p].Terminal {
		return
	}
	if from != cluster.NoNode {
		w.AdjustPod(p, from, -1)
	}
	if to != cluster.NoNode {
		w.AdjustPod(p, to, 1)
	}
	w.PodNode[p] = to
}

// Requested returns the sum of the requests of the pods on the node.
func (w *Cluster) Requested(n cluster.NodeID) cluster.Resources {
	l := &w.Requests[n]
	r := cluster.Resources{MilliCPU: l.MilliCPU, MemoryBytes: l.MemoryBytes, EphemeralStorageByte: l.EphemeralBytes}
	if len(l.Extended) > 0 {
		r.Extended = maps.Clone(l.Extended)
	}
	return r
}

// AdjustPod adds (1) or takes away (-1) the pod on the node in every count.
func (w *Cluster) AdjustPod(p cluster.PodID, n cluster.NodeID, by int64) {
	w.AdjustSpread(p, n, int32(by))
	w.AdjustUsage(p, n, by)
}

// AdjustSpread changes the counts in which topology spread counts the pod. A pod
// that terminates in the snapshot is in none of them.
func (w *Cluster) AdjustSpread(p cluster.PodID, n cluster.NodeID, by int32) {
	if w.Snap.Pods[p].Terminating {
		return
	}
	for _, c := range w.PodClass[p].SpreadCounters {
		c.Add(n, by)
	}
}

// AdjustUsage changes the node's load and the counts of inter-pod affinity.
func (w *Cluster) AdjustUsage(p cluster.PodID, n cluster.NodeID, by int64) {
	pod, l := &w.Snap.Pods[p], &w.Requests[n]
	l.MilliCPU += by * pod.Requests.MilliCPU
	l.MemoryBytes += by * pod.Requests.MemoryBytes
	l.EphemeralBytes += by * pod.Requests.EphemeralStorageByte
	l.NonZeroMilliCPU += by * pod.NonZero.MilliCPU
	l.NonZeroBytes += by * pod.NonZero.MemoryBytes
	l.Pods += by
	for name, amount := range pod.Requests.Extended {
		if l.Extended == nil {
			l.Extended = map[corev1.ResourceName]int64{}
		}
		l.Extended[name] += by * amount
	}
	for _, c := range w.PodClass[p].TermCounters {
		c.Add(n, int32(by))
		c.Total += by
	}
	if w.Packing != nil {
		w.Packing.adjust(pod, n, by*w.PodClass[p].ExpectedMilliCPU)
	}
	w.adjustExclusive(p, n, int32(by))
	w.recordChange(n)
	if w.OnChange != nil {
		w.OnChange(n)
	}
}

// adjustExclusive changes what pods keep from each other on a node: ports, disks,
// claims and places for volumes.
func (w *Cluster) adjustExclusive(p cluster.PodID, n cluster.NodeID, by int32) {
	c := w.PodClass[p]
	w.Ports.Adjust(c.Ports, int(n), by)
	w.Disks.AdjustDisks(c.Disks, int(n), by)
	w.Disks.AdjustClaims(c.Namespace, c.Claims, by)
	w.Attachments.Adjust(p, int(n), by)
}

// NewCluster returns the model of a snapshot in which each pod is on the node that
// the snapshot names. profiles are those of the schedulers, by schedulerName.
func NewCluster(s *cluster.Snapshot, profiles map[string]scheduler.Profile) *Cluster {
	w := &Cluster{
		Snap:               s,
		PodNode:            make([]cluster.NodeID, len(s.Pods)),
		PodClass:           make([]*EquivalenceClass, len(s.Pods)),
		ClassesByNamespace: map[string][]*EquivalenceClass{},
		ClassesByLabel:     map[labelKey]map[string][]*EquivalenceClass{},
		NodesWithKeys:      map[string][]bool{},
		Requests:           make([]NodeRequests, len(s.Nodes)),
		Topologies:         map[string]*Topology{},
		SpreadCounters:     map[string]*PodCounter{},
		TermCounters:       map[string]*PodCounter{},
		TermsByID:          map[string]*ExistingTerm{},
		NamespaceLabels:    map[string]labels.Set{},
		Ports:              make(PortTable, len(s.Nodes)),
		Disks:              volume.NewDiskTable(),
		Storage:            volume.NewStorage(s),
	}
	w.readNodes()
	w.compileProfiles(profiles)
	w.indexOwners()
	w.groupPods()
	w.Attachments = volume.NewAttachments(w.Storage)
	w.indexNominated()
	for i := range s.Pods {
		p := &s.Pods[i]
		w.PodNode[i] = cluster.NoNode
		if p.Node != cluster.NoNode && !p.Terminal {
			w.AdjustPod(p.ID, p.Node, 1)
			w.PodNode[i] = p.Node
		}
	}
	return w
}

// readNodes notes what each node can allocate, and a node that is not ready.
func (w *Cluster) readNodes() {
	for i := range w.Snap.Nodes {
		n := &w.Snap.Nodes[i]
		w.Requests[i].AllocatableMilliCPU, w.Requests[i].AllocatableBytes = n.Allocatable.MilliCPU, n.Allocatable.MemoryBytes
		if !n.Ready && w.NotReadyNode == "" {
			w.NotReadyNode = n.Name
		}
	}
}
