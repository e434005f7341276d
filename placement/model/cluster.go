package model

import (
	"slices"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement/scheduler"
	"github.com/evenkeel-project/evenkeel/placement/volume"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// ClassNumber returns the number of the pod's equivalence class, from 0 to ClassCount-1; -1 for a
// terminal pod. CouldRun returns the same result for all supported pods of a class.
func (m *Cluster) ClassNumber(p cluster.PodID) int {
	if c := m.PodClass[p]; c != nil {
		return c.Number
	}
	return -1
}

// Cluster is a snapshot in which the planner can move pods, with every count that filters and
// scores read. A Cluster is not safe for concurrent use.
type Cluster struct {
	Snap     *cluster.Snapshot
	profiles map[string]*scheduler.Compiled // by schedulerName
	Packing  *PackingUsage                  // measurements for TargetLoadPacking; nil if no profile uses it
	Risk     *RiskUsage                     // measurements for trimaran's plugins about risk; nil if no profile uses them

	PodNode            []cluster.NodeID    // the node of each pod in this model
	PodClass           []*EquivalenceClass // by pod; nil for terminal pods
	ClassList          []*EquivalenceClass
	classesByNamespace map[string][]*EquivalenceClass
	classesByLabel     map[labelKey]map[string][]*EquivalenceClass // built on first use

	Requests          []nodeRequests // by node
	Hints             SteeringHints
	Topologies        map[string]*Topology
	noDomains         *Topology              // of every topology key that no node has
	NodesWithKeys     map[string][]bool      // by IDs of topologies: the nodes that have all their keys
	spreadCounters    map[string]*PodCounter // pods that match a selector, without terminating pods
	termCounters      map[string]*PodCounter // pods that match affinity terms
	AntiAffinityTerms []*ExistingTerms       // required anti-affinity terms of the pods on nodes
	ScoredTerms       []*ExistingTerms       // terms of the pods on nodes that change scores
	termsByID         map[string]*ExistingTerms

	NamespaceLabels map[string]labels.Set
	// UnknownNamespace is a namespace that has pods but is not in the snapshot; empty if there is
	// none.
	UnknownNamespace string
	// NotReadyNode is the first node that is not ready; empty if there is none.
	NotReadyNode string
	// InvalidAffinityPod is a pod whose affinity cannot be parsed; empty if there is none. With
	// such a pod in the cluster, no placement can be predicted.
	InvalidAffinityPod string
	Services           map[string][]*corev1.Service
	owners             map[ownerKey]Owner

	Storage           *volume.Storage
	Ports             PortTable
	Disks             volume.DiskTable
	Attachments       *volume.Attachments
	Nominated         map[cluster.NodeID][]cluster.PodID
	terminating       map[cluster.PodID]cluster.NodeID // pods that still run beside their replacements; see PlaceReplacement
	ReadsCopiedLabels bool                             // see labelsOf; it is true if a selector of a pod is invalid
	LastID            int                              // highest ID of a Topology or NodeChecks
	OnChange          func(cluster.NodeID)             // called with each node whose pods change; nil: no call

	NodeOrder    []cluster.NodeID // order in which the scheduler examines nodes; see InitNodeOrder
	NodePosition []int32          // by node: its index in NodeOrder
}

// nodeRequests holds the sums of the requests of the pods on one node, and the node's allocatable
// CPU and memory, because scores read both together. LeastAllocated reads the NonZero sums, and
// everything else reads the plain sums.
type nodeRequests struct {
	AllocatableMilliCPU, AllocatableBytes int64
	cluster.Resources
	NonZeroMilliCPU, NonZeroBytes int64
	Pods                          int64
}

// NodeOf returns the node of the pod in this model; NoNode for an unbound, terminal or removed pod.
func (m *Cluster) NodeOf(p cluster.PodID) cluster.NodeID { return m.PodNode[p] }

// Move removes the pod from its node and places its replacement on the node `to`. With NoNode,
// there is no replacement. Moving the pod back to its original node undoes the move.
func (m *Cluster) Move(p cluster.PodID, to cluster.NodeID) {
	from := m.PodNode[p]
	if from == to || m.Snap.Pods[p].Terminal {
		return
	}
	if from != cluster.NoNode {
		m.AdjustPod(p, from, -1)
	}
	if to != cluster.NoNode {
		m.AdjustPod(p, to, 1)
	}
	m.PodNode[p] = to
}

// Requested returns the sum of the requests of the pods on the node.
func (m *Cluster) Requested(n cluster.NodeID) cluster.Resources {
	return m.Requests[n].Resources.Clone()
}

// AdjustPod adds the pod to all counts of the node (by = 1), or removes it (by = -1).
func (m *Cluster) AdjustPod(p cluster.PodID, n cluster.NodeID, by int64) {
	m.AdjustSpread(p, n, int32(by))
	m.AdjustUsage(p, n, by)
}

// AdjustSpread adds the pod to the counts of topology spread (by = 1), or removes it (by = -1).
// Counts of topology spread never include pods that terminate in the snapshot.
func (m *Cluster) AdjustSpread(p cluster.PodID, n cluster.NodeID, by int32) {
	if m.Snap.Pods[p].Terminating {
		return
	}
	for _, c := range m.PodClass[p].spreadCounters {
		c.Add(n, by)
	}
}

// AdjustUsage adds the pod to all counts other than those of topology spread (by = 1), or removes
// it (by = -1).
func (m *Cluster) AdjustUsage(p cluster.PodID, n cluster.NodeID, by int64) {
	pod, class, l := &m.Snap.Pods[p], m.PodClass[p], &m.Requests[n]
	l.AddTimes(by, pod.Requests)
	l.NonZeroMilliCPU = cluster.BoundedSum(l.NonZeroMilliCPU, by*pod.NonZero.MilliCPU)
	l.NonZeroBytes = cluster.BoundedSum(l.NonZeroBytes, by*pod.NonZero.MemoryBytes)
	l.Pods += by
	for _, c := range class.termCounters {
		c.Add(n, int32(by))
	}
	if m.Packing != nil {
		m.Packing.adjust(pod, n, by*class.ExpectedMilliCPU)
	}
	if m.Risk != nil {
		m.Risk.adjust(class.RiskAmounts, n, by)
	}
	m.Ports.adjust(class.Ports, int(n), int32(by))
	m.Disks.AdjustDisks(class.Disks, int(n), int32(by))
	m.Disks.AdjustClaims(class.Namespace, class.Claims, int32(by))
	m.Attachments.Adjust(p, int(n), int32(by))
	if m.OnChange != nil {
		m.OnChange(n)
	}
}

// InBothVictimStates calls f while the victim terminates, then once it is gone. Afterwards,
// InBothVictimStates restores the victim.
func (m *Cluster) InBothVictimStates(p cluster.PodID, f func(gone bool)) {
	n := m.PodNode[p]
	if n == cluster.NoNode {
		f(false)
		f(true)
		return
	}
	m.AdjustSpread(p, n, -1)
	f(false)
	m.Attachments.VictimNode = n
	m.AdjustUsage(p, n, -1)
	f(true)
	m.Attachments.VictimNode = cluster.NoNode
	m.AdjustUsage(p, n, 1)
	m.AdjustSpread(p, n, 1)
}

// ProfileOf returns the profile of a schedulerName. For an unknown scheduler, ProfileOf adds and
// returns a profile with an UnsupportedReason.
func (m *Cluster) ProfileOf(name string) *scheduler.Compiled {
	if name == "" {
		name = corev1.DefaultSchedulerName
	}
	p := m.profiles[name]
	if p == nil {
		unknown := scheduler.DefaultProfile()
		unknown.UnsupportedReason = scheduler.UnknownScheduler
		p = scheduler.Compile(name, unknown)
		m.profiles[name] = p
	}
	return p
}

// OwnerOf returns the pod's controller; false if the snapshot does not have the controller.
func (m *Cluster) OwnerOf(p *cluster.Pod) (Owner, bool) {
	c, class := p.Controller, m.PodClass[p.ID]
	switch {
	case class != nil:
		return class.owner, class.owner != Owner{}
	case c == nil:
		return Owner{}, false
	}
	o, ok := m.owners[ownerKey{c.APIVersion, c.Kind, p.Object.Namespace, c.Name}]
	return o, ok
}

// NodeObject returns the node with the steering labels of this model, but without its steering
// taints.
func (m *Cluster) NodeObject(n int) *corev1.Node {
	if labelled := m.Hints.labels[cluster.NodeID(n)]; labelled != nil {
		return labelled
	}
	return m.Snap.Nodes[n].Object
}

// InitNodeOrder returns the order in which the scheduler examines nodes. The first call sets
// NodeOrder and NodePosition.
func (m *Cluster) InitNodeOrder() []cluster.NodeID {
	if m.NodeOrder == nil {
		m.NodeOrder = newNodeOrder(m.Snap)
		m.NodePosition = make([]int32, len(m.NodeOrder))
		for place, n := range m.NodeOrder {
			m.NodePosition[n] = int32(place)
		}
	}
	return m.NodeOrder
}

type labelKey struct{ namespace, key string }

// matches reports whether the term selects the pods of the class.
func (m *Cluster) matches(t *AffinityTerm, c *EquivalenceClass) bool {
	return t.SelectsNamespace(c.Namespace, m.NamespaceLabels[c.Namespace]) && t.Selector.Matches(c.Labels)
}

// SumOfWeights sums the weights of the terms that select the pods of the class, and reports whether one does.
func (m *Cluster) SumOfWeights(terms []AffinityTerm, c *EquivalenceClass) (sum int64, some bool) {
	for i := range terms {
		if m.matches(&terms[i], c) {
			sum, some = sum+terms[i].weight, true
		}
	}
	return sum, some
}

// WeightOn returns the sum of the weights of the terms that select the pods of the class, and whether one does. A
// required term weighs as much as the profile says.
func (m *Cluster) WeightOn(o *ExistingTerms, c *EquivalenceClass, required int64) (weight int64, some bool) {
	weight, some = m.SumOfWeights(o.terms, c)
	if o.required {
		return weight * required, some && required != 0
	}
	return weight, some
}

// MatchesAllTerms reports whether every term selects the pods of the class; false if terms is
// empty.
func (m *Cluster) MatchesAllTerms(terms []AffinityTerm, c *EquivalenceClass) bool {
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t AffinityTerm) bool { return !m.matches(&t, c) })
}

// PlaceReplacement places the replacement of the pod on the node `to`, while the pod
// itself still terminates on its node. As in kube-scheduler, a terminating pod keeps its
// requests, ports, disks and claims, and inter-pod affinity counts it; topology spread
// does not. The replacement may be on the same node. EndTermination removes the pod.
func (m *Cluster) PlaceReplacement(p cluster.PodID, to cluster.NodeID) {
	from := m.PodNode[p]
	m.Move(p, to)
	if from == cluster.NoNode || m.Snap.Pods[p].Terminal {
		return
	}
	m.AdjustUsage(p, from, 1)
	if m.terminating == nil {
		m.terminating = map[cluster.PodID]cluster.NodeID{}
	}
	m.terminating[p] = from
}

// EndTermination removes the pod from the node on which it still terminates. It does
// nothing for a pod that PlaceReplacement did not keep.
func (m *Cluster) EndTermination(p cluster.PodID) {
	if from, ok := m.terminating[p]; ok {
		delete(m.terminating, p)
		m.AdjustUsage(p, from, -1)
	}
}
