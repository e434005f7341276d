package placement

import (
	"github.com/evenkeel-project/evenkeel/cluster"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"maps"
)

// ClassOf numbers what the scheduler cannot tell the pod from: pods of one number, from
// 0 to below Classes, get the same answers of CouldRun wherever Supported holds for both. A
// pod that has ended has none, -1.
func (w *clusterState) ClassOf(p cluster.PodID) int {
	if c := w.classOf[p]; c != nil {
		return c.number
	}
	return -1
}

// Classes is how many there are.
func (w *clusterState) Classes() int { return len(w.classes) }

type clusterState struct {
	snap     *cluster.Snapshot
	profiles map[string]*profile // by schedulerName
	packing  *packing            // what TargetLoadPacking knows; nil when no profile has it

	node    []cluster.NodeID // the node of each pod in this model
	classOf []*class         // by pod; nil for terminal pods
	classes []*class
	byNS    map[string][]*class
	byLabel map[labelKey]map[string][]*class // made on demand

	load       []nodeLoad // by node
	hinted     hinted
	topologies map[string]*topology
	keyed      map[string][]bool   // by topologies, the nodes that have all their keys
	spreads    map[string]*counter // pods that match a selector, terminating ones left out
	matches    map[string]*counter // pods that match affinity terms
	anti       []*ownedTerm        // required anti-affinity terms of the pods on nodes
	scored     []*ownedTerm        // terms of the pods on nodes which give scores
	owned      map[string]*ownedTerm

	nsLabels map[string]labels.Set
	// noNamespace is one namespace with pods whose object is not known.
	noNamespace string
	// unready names a node that is not ready, empty for none.
	unready string
	// unreadable names a pod whose affinity cannot be parsed; nothing can be
	// predicted beside it.
	unreadable string
	services   map[string][]*corev1.Service
	owners     map[ownerKey]owner

	storage     *storage
	ports       portTable
	held        diskTable
	attachments *attachments
	nominated   map[cluster.NodeID][]cluster.PodID
	numbered    int                  // views and topologies that have got a number
	changes     []cluster.NodeID     // where pods came or went, oldest first
	forgotten   int                  // changes that are no longer listed
	onChange    func(cluster.NodeID) // told of each node that pods come to or leave; nil: nobody

	walk  []cluster.NodeID // order in which the scheduler looks at nodes; made on demand
	place []int32          // by node, its place in the walk
}

// nodeLoad is what stands on one node. Scores by LeastAllocated use the nonZero
// sums, everything else the true ones. What the node has of cpu and memory is
// kept beside them, since scores read both together.
type nodeLoad struct {
	allocatableMilliCPU, allocatableBytes int64

	milliCPU, memory, ephemeral   int64
	nonZeroMilliCPU, nonZeroBytes int64
	pods                          int64
	extended                      map[corev1.ResourceName]int64
}

// Snapshot returns the snapshot from which the world was made.
func (w *clusterState) Snapshot() *cluster.Snapshot { return w.snap }

// NodeOf returns where the pod stands in this world, NoNode when it is unbound,
// terminal or gone.
func (w *clusterState) NodeOf(p cluster.PodID) cluster.NodeID { return w.node[p] }

// Move lets the pod's replacement stand on the node `to`, the victim gone; with
// NoNode the pod is gone without a replacement. Moving back undoes it.
func (w *clusterState) Move(p cluster.PodID, to cluster.NodeID) {
	from := w.node[p]
	if from == to || w.snap.Pods[p].Terminal {
		return
	}
	if from != cluster.NoNode {
		w.shift(p, from, -1)
	}
	if to != cluster.NoNode {
		w.shift(p, to, 1)
	}
	w.node[p] = to
}

// Requested returns the sum of the requests of the pods on the node.
func (w *clusterState) Requested(n cluster.NodeID) cluster.Resources {
	l := &w.load[n]
	r := cluster.Resources{MilliCPU: l.milliCPU, MemoryBytes: l.memory, EphemeralStorageByte: l.ephemeral}
	if len(l.extended) > 0 {
		r.Extended = maps.Clone(l.extended)
	}
	return r
}

// shift adds (1) or takes away (-1) the pod on the node in every count.
func (w *clusterState) shift(p cluster.PodID, n cluster.NodeID, by int64) {
	w.shiftSpread(p, n, int32(by))
	w.shiftRest(p, n, by)
}

// shiftSpread changes the counts in which topology spread counts the pod. A pod
// that terminates in the snapshot is in none of them.
func (w *clusterState) shiftSpread(p cluster.PodID, n cluster.NodeID, by int32) {
	if w.snap.Pods[p].Terminating {
		return
	}
	for _, c := range w.classOf[p].spread {
		c.add(n, by)
	}
}

// shiftRest changes the node's load and the counts of inter-pod affinity.
func (w *clusterState) shiftRest(p cluster.PodID, n cluster.NodeID, by int64) {
	pod, l := &w.snap.Pods[p], &w.load[n]
	l.milliCPU += by * pod.Requests.MilliCPU
	l.memory += by * pod.Requests.MemoryBytes
	l.ephemeral += by * pod.Requests.EphemeralStorageByte
	l.nonZeroMilliCPU += by * pod.NonZero.MilliCPU
	l.nonZeroBytes += by * pod.NonZero.MemoryBytes
	l.pods += by
	for name, amount := range pod.Requests.Extended {
		if l.extended == nil {
			l.extended = map[corev1.ResourceName]int64{}
		}
		l.extended[name] += by * amount
	}
	for _, c := range w.classOf[p].affinity {
		c.add(n, int32(by))
		c.total += by
	}
	if w.packing != nil {
		w.packing.shift(pod, n, by*w.classOf[p].demand)
	}
	w.shiftHeld(p, n, int32(by))
	w.changed(n)
	if w.onChange != nil {
		w.onChange(n)
	}
}

// shiftHeld changes what pods keep from each other on a node: ports, disks,
// claims and places for volumes.
func (w *clusterState) shiftHeld(p cluster.PodID, n cluster.NodeID, by int32) {
	c := w.classOf[p]
	w.ports.shift(c.ports, int(n), by)
	w.held.shiftDisks(c.disks, int(n), by)
	w.held.shiftClaims(c.namespace, c.claims, by)
	w.attachments.shift(p, int(n), by)
}
